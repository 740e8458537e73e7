//! A worker's standard output: lines, each of which is a message.

use std::io::Read;
use std::sync::mpsc::Sender;

use gpbench_record::Message;

use crate::executor::is_terminal;

/// Most bytes of a line: a message is far smaller.
const LINE_LIMIT: usize = 4 << 20;
/// Most bytes of all lines: enough for a hundred thousand trace points.
const TOTAL_LIMIT: usize = 256 << 20;
/// Characters shown of a line that is no message.
const SAMPLE: usize = 80;

/// What came out of a worker.
#[derive(Debug)]
pub(crate) enum Output {
    /// A message.
    Message(Message),
    /// The beginning of a line that is no message; nothing after it counts.
    Garbled(String),
}

/// Reads `from` to its end and sends what it holds.
///
/// After the terminal message everything is read and ignored, so that a full pipe does not block a process that goes
/// on writing. A last line without its end counts only if it is a whole message: a process killed while writing has
/// written nothing wrong.
pub(crate) fn forward(mut from: impl Read, to: &Sender<Output>) {
    let mut chunk = [0; 16 << 10];
    let mut line = Vec::new();
    let mut total = 0;
    let mut listening = true;
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        if !listening {
            continue;
        }
        total += count;
        for piece in chunk[..count].split_inclusive(|&byte| byte == b'\n') {
            line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                listening = send(&line, to);
                line.clear();
            } else if line.len() > LINE_LIMIT || total > TOTAL_LIMIT {
                let _ = to.send(Output::Garbled(sample(&line)));
                listening = false;
            }
            if !listening {
                line = Vec::new();
                break;
            }
        }
    }
    if let Ok(message) = serde_json::from_slice(&line) {
        let _ = to.send(Output::Message(message));
    }
}

/// Sends one line; false if nothing after it counts.
fn send(line: &[u8], to: &Sender<Output>) -> bool {
    if line.trim_ascii().is_empty() {
        return true;
    }
    match serde_json::from_slice::<Message>(line) {
        Ok(message) => {
            let last = is_terminal(&message);
            to.send(Output::Message(message)).is_ok() && !last
        }
        Err(_) => {
            let _ = to.send(Output::Garbled(sample(line)));
            false
        }
    }
}

fn sample(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * SAMPLE)]);
    text.trim_end().chars().take(SAMPLE).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const FAILED: &str = r#"{"type":"failed","status":"invalid","reason":"no"}"#;
    const TRACE: &str = r#"{"type":"trace","iteration":1,"seconds":0.1,"epochs":1.0,"metrics":{}}"#;

    fn received(text: impl AsRef<[u8]>) -> Vec<String> {
        let (to, from) = channel();
        forward(text.as_ref(), &to);
        drop(to);
        from.iter()
            .map(|output| match output {
                Output::Message(Message::Trace(_)) => "trace".into(),
                Output::Message(Message::Failed(_)) => "failed".into(),
                Output::Message(_) => "other".into(),
                Output::Garbled(sample) => format!("garbled {sample}"),
            })
            .collect()
    }

    #[test]
    fn whole_lines_are_messages() {
        assert_eq!(received(format!("{TRACE}\n\n{TRACE}\n{FAILED}\n")), ["trace", "trace", "failed"]);
    }

    #[test]
    fn half_a_line_is_no_message() {
        assert_eq!(received(format!("{TRACE}\n{}", &FAILED[..20])), ["trace"]);
        assert_eq!(received(FAILED), ["failed"]);
    }

    #[test]
    fn a_line_that_is_no_message_is_the_last() {
        assert_eq!(received(format!("hello\tworld\n{FAILED}\n")), ["garbled hello world"]);
        assert_eq!(received(b"\xff\xfe\n"), ["garbled \u{fffd}\u{fffd}"]);
        assert_eq!(received(vec![b'x'; LINE_LIMIT + 100_000]), [format!("garbled {}", "x".repeat(SAMPLE))]);
    }

    #[test]
    fn nothing_counts_after_the_terminal_message() {
        assert_eq!(received(format!("{FAILED}\ngarbage\n{FAILED}")), ["failed"]);
    }
}
