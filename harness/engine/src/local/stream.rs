//! A worker's standard output: lines, each of which is a message.

use std::io::Read;
use std::sync::mpsc::Sender;

use gpbench_record::{MOST_TRACE_POINTS, Message, Metrics};

use crate::WorkItem;
use crate::executor::is_terminal;

/// Most bytes of a line of a worker that runs a plugin: a message is far smaller.
const LINE_LIMIT: usize = 4 << 20;
/// Most bytes of a line of a verification, which may hold predictions on 200 000 rows of about 80 bytes.
const LONG_LINE_LIMIT: usize = 32 << 20;
/// Most bytes of all lines, more than the messages of any case have.
const TOTAL_LIMIT: usize = 256 << 20;
/// Most bytes of memory of the points of a trace, several times what the longest trace takes.
const TRACE_MEMORY: usize = 32 << 20;
/// Most bytes of memory of each step of training, beside those: room for hundreds of length scales.
const STEP_MEMORY: usize = 64 << 10;
/// About what a named number takes beside its name.
const NUMBER: usize = 100;
/// Characters shown of a line that is no message.
const SAMPLE: usize = 80;

/// Output of a worker.
#[derive(Debug)]
pub(crate) enum Output {
    /// A message.
    Message(Box<Message>),
    /// The beginning of a line that is no message; nothing after it counts.
    Garbled(String),
}

/// What a worker may still send before its terminal message. All of it is kept until the case ends, so a plugin that
/// forges messages could otherwise fill this process's memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    messages: usize,
    bytes: usize,
    /// Bytes of a line.
    line: usize,
}

impl Bound {
    /// The bound for a worker that runs this work item.
    pub(crate) fn of(item: &WorkItem) -> Self {
        let steps = match item {
            WorkItem::Case(job) => job.case.task.most_steps(),
            WorkItem::Verify(_) | WorkItem::Exact(_) | WorkItem::Optimum(_) => 0,
        };
        Self {
            // And the message that the plugin is being loaded.
            messages: MOST_TRACE_POINTS.saturating_add(steps).saturating_add(1),
            bytes: TRACE_MEMORY.saturating_add(steps.saturating_mul(STEP_MEMORY)),
            line: if matches!(item, WorkItem::Verify(_)) { LONG_LINE_LIMIT } else { LINE_LIMIT },
        }
    }

    /// Counts a message.
    ///
    /// # Errors
    /// The kind of message of which there are too many.
    fn take(&mut self, message: &Message) -> Result<(), &'static str> {
        self.messages = self.messages.checked_sub(1).ok_or("more messages than any case has")?;
        self.bytes = self.bytes.checked_sub(size(message)).ok_or("longer messages than any case has")?;
        Ok(())
    }
}

/// About the bytes of memory that a message before the terminal one takes.
fn size(message: &Message) -> usize {
    let numbers = |metrics: &Metrics| metrics.iter().map(|(name, _)| name.len() + NUMBER).sum::<usize>();
    let own = match message {
        Message::Trace(point) => numbers(&point.metrics),
        Message::Step(step) => {
            let hyperparameters = step.hyperparameters.keys().map(|name| name.len() + NUMBER);
            numbers(&step.metrics) + hyperparameters.sum::<usize>()
        }
        _ => 0,
    };
    size_of::<Message>() + own
}

/// Reads `from` to its end and sends what it holds, up to the bound.
///
/// After the terminal message everything is read and ignored, so that a full pipe does not block a process that goes
/// on writing. A last line without its end counts only if it is a whole message: a process killed while writing has
/// written nothing wrong.
pub(crate) fn forward(mut from: impl Read, mut most: Bound, to: &Sender<Output>) {
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
                listening = send(&line, &mut most, to);
                line.clear();
            } else if line.len() > most.line || total > TOTAL_LIMIT {
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
        let _ = to.send(Output::Message(Box::new(message)));
    }
}

/// Sends one line; false if nothing after it counts.
fn send(line: &[u8], most: &mut Bound, to: &Sender<Output>) -> bool {
    if line.trim_ascii().is_empty() {
        return true;
    }
    match serde_json::from_slice::<Message>(line) {
        Ok(message) => {
            let last = is_terminal(&message);
            if let Err(what) = most.take(&message).or_else(|what| if last { Ok(()) } else { Err(what) }) {
                let _ = to.send(Output::Garbled(what.to_owned()));
                return false;
            }
            to.send(Output::Message(Box::new(message))).is_ok() && !last
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

    const MOST: Bound = Bound { messages: 4, bytes: 1 << 20, line: LINE_LIMIT };

    fn received(text: impl AsRef<[u8]>) -> Vec<String> {
        let (to, from) = channel();
        forward(text.as_ref(), MOST, &to);
        drop(to);
        from.iter()
            .map(|output| match output {
                Output::Message(message) => match *message {
                    Message::Trace(_) => "trace".into(),
                    Message::Failed(_) => "failed".into(),
                    _ => "other".into(),
                },
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

    #[test]
    fn a_flood_of_messages_ends_at_its_bound() {
        let garbled = |what: &str| format!("garbled {what}");
        let trace = format!("{TRACE}\n");
        let within = received(trace.repeat(4) + FAILED + "\n");
        assert_eq!(within, ["trace", "trace", "trace", "trace", "failed"]);
        let many = received(trace.repeat(1000) + FAILED + "\n");
        let too_many = garbled("more messages than any case has");
        assert_eq!(many, ["trace", "trace", "trace", "trace", too_many.as_str()]);
        let numbers: Vec<String> = (0..20_000).map(|name| format!("\"{name}\":1")).collect();
        let long = TRACE.replace("{}", &format!("{{{}}}", numbers.join(","))) + "\n";
        assert_eq!(received(long.repeat(2)), [garbled("longer messages than any case has")]);
    }
}
