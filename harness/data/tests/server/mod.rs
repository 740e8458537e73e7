//! A small HTTP server on the loopback interface, with one thread and one reply a connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub path: String,
    /// First byte of a `Range` header.
    pub from: Option<usize>,
}

/// The reply to a request.
pub struct Reply {
    pub status: &'static str,
    pub headers: Vec<String>,
    pub body: Vec<u8>,
    /// Close the connection after this many bytes of the body.
    pub cut: Option<usize>,
}

impl Reply {
    pub fn status(status: &'static str) -> Self {
        Self { status, headers: vec![], body: vec![], cut: None }
    }

    /// The file, whole.
    pub fn whole(body: &[u8]) -> Self {
        Self { body: body.to_vec(), ..Self::status("200 OK") }
    }

    /// The file from the byte that the client requests.
    pub fn ranged(body: &[u8], request: &Request) -> Self {
        let size = body.len();
        match request.from {
            None => Self::whole(body),
            Some(from) if from >= size => Self {
                headers: vec![format!("Content-Range: bytes */{size}")],
                ..Self::status("416 Range Not Satisfiable")
            },
            Some(from) => Self {
                headers: vec![format!("Content-Range: bytes {from}-{}/{size}", size - 1)],
                body: body[from..].to_vec(),
                ..Self::status("206 Partial Content")
            },
        }
    }

    pub fn cut_after(self, bytes: usize) -> Self {
        Self { cut: Some(bytes), ..self }
    }
}

pub struct Server {
    pub url: String,
    log: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers every request by `answer`, until the test's process ends.
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&log);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let request = read(&stream);
                seen.lock().unwrap().push(request.clone());
                write(stream, answer(&request));
            }
        });
        Self { url, log }
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Request {
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let from = headers.iter().find_map(|line| {
        let value = line.to_ascii_lowercase().strip_prefix("range: bytes=")?.to_owned();
        value.trim_end_matches('-').parse().ok()
    });
    Request { path, from }
}

fn write(mut stream: TcpStream, reply: Reply) {
    let Reply { status, headers, body, cut } = reply;
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for header in headers {
        head += &format!("{header}\r\n");
    }
    // The client may have closed the connection already.
    let _ = stream.write_all(format!("{head}\r\n").as_bytes());
    let _ = stream.write_all(&body[..cut.unwrap_or(body.len())]);
}
