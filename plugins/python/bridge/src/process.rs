//! The conversation with the child: calls, the requests that the child makes meanwhile, and answers.

use std::cell::{Cell, RefCell};

use gpbench_abi::{Status, log_level};
use serde_json::{Value, json};

use crate::arena::Arena;
use crate::child::{Child, Received, Start, end_like};
use crate::failure::{Failure, Result};
use crate::frame::{self, Frame, INTEGERS, REALS, Wrong, kind};
use crate::host::Host;

/// The child process of a script, with the memory that it shares.
#[derive(Debug)]
pub struct Process {
    /// The shared memory.
    pub arena: Arena,
    /// The host, for the log.
    pub host: Host,
    child: RefCell<Child>,
    /// Number of the last frame that was sent.
    sent: Cell<u64>,
    /// Number of the child's last request.
    requested: Cell<u64>,
    /// Number of the last object.
    objects: Cell<i64>,
    /// Kept objects that the host has freed, of which the child does not know yet.
    released: RefCell<Vec<i64>>,
    /// Whether a call is under way.
    is_busy: Cell<bool>,
    /// Why the child was ended by this side, if it was.
    over: RefCell<Option<String>>,
}

/// Serves the requests that the child makes during a call.
pub trait Server {
    /// Serves a request.
    ///
    /// # Errors
    /// Where the request is malformed; the child is then ended.
    fn serve(&mut self, request: &Frame, process: &Process) -> Result<Reply>;
}

/// Answer to a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reply {
    /// 0, or a status of the interface.
    pub status: i32,
    /// Numbers, as the request has it.
    pub integers: [i64; INTEGERS],
    /// Further numbers.
    pub reals: [f64; REALS],
}

impl From<Status> for Reply {
    fn from(status: Status) -> Reply {
        Reply { status: status.0, ..Reply::default() }
    }
}

impl Reply {
    /// The answer of a call of the host that yields numbers.
    pub fn with(status: Status, integers: &[i64]) -> Reply {
        let mut reply = Reply::from(status);
        reply.integers[..integers.len()].copy_from_slice(integers);
        reply
    }
}

/// Of calls that have no data: the child may write to the log only.
#[derive(Debug)]
pub struct NoRequests;

impl Server for NoRequests {
    fn serve(&mut self, request: &Frame, process: &Process) -> Result<Reply> {
        Ok(refuse(request, process))
    }
}

/// The answer to a request that is not permitted in this call.
pub fn refuse(request: &Frame, process: &Process) -> Reply {
    let text = format!("request {} of the script is not permitted in this call", request.kind);
    process.host.log(log_level::WARNING, &text);
    Status::INVALID_ARGUMENT.into()
}

impl Process {
    /// Starts a child.
    pub fn start(start: &Start<'_>, arena: Arena, host: Host) -> Result<Process> {
        let what = "the Python process cannot be started";
        let child = Child::start(start, &arena).map_err(|error| Failure::System { what, error })?;
        host.adopt(child.id());
        Ok(Process {
            arena,
            host,
            child: RefCell::new(child),
            sent: Cell::new(0),
            requested: Cell::new(0),
            objects: Cell::new(0),
            released: RefCell::default(),
            is_busy: Cell::new(false),
            over: RefCell::default(),
        })
    }

    /// A number for a new object.
    pub fn new_object(&self) -> i64 {
        self.objects.set(self.objects.get() + 1);
        self.objects.get()
    }

    /// Whether the child was ended by this side.
    pub fn is_over(&self) -> bool {
        self.over.borrow().is_some()
    }

    /// Notes that the host has freed an object that the child keeps.
    pub fn release(&self, handle: i64) {
        self.released.borrow_mut().push(handle);
    }

    /// Makes a call with numbers and serves the child's requests until it answers.
    pub fn call(
        &self,
        kind: u16,
        flags: u16,
        integers: &[i64],
        reals: &[f64],
        server: &mut dyn Server,
    ) -> Result<Frame> {
        self.begin()?;
        let sequence = self.send(kind, flags, Status::DONE, integers, reals);
        self.converse(sequence, server)
    }

    /// Makes a call with a text, which has no requests but those to the log.
    pub fn call_with(&self, kind: u16, content: &Value) -> Result<Frame> {
        let text = content.to_string();
        if text.len() > frame::MOST_JSON {
            return Err(Failure::invalid(format!("{} bytes of parameters are too many", text.len())));
        }
        self.begin()?;
        let sequence = self.next();
        self.child.borrow().send(&frame::encode_text(kind, sequence, &text));
        self.converse(sequence, &mut NoRequests)
    }

    /// Tells the child something that it does not answer. Nothing happens if it has ended.
    pub fn tell(&self, kind: u16, integers: &[i64]) {
        if self.over.borrow().is_none() {
            self.send(kind, 0, Status::DONE, integers, &[]);
        }
    }

    /// Fails if the child was ended; tells it which objects are freed.
    fn begin(&self) -> Result<()> {
        if self.is_busy.get() {
            self.give_up("a call was interrupted".to_owned());
        }
        if let Some(reason) = &*self.over.borrow() {
            return Err(Failure::new(format!("the Python process was ended before, since {reason}")));
        }
        for handle in self.released.take() {
            self.tell(kind::RELEASE, &[handle]);
        }
        self.is_busy.set(true);
        Ok(())
    }

    /// Sends the transform of a fused product to the child and waits until it is done. What fails is an error
    /// for the request that it belongs to.
    pub fn transform(&self) -> Result<()> {
        let sequence = self.send(kind::TRANSFORM, 0, Status::DONE, &[], &[]);
        let frame = self.guard(self.receive())?;
        if frame.kind != kind::TRANSFORMED || frame.sequence != sequence {
            return self.guard(Err(Wrong(format!("a frame of kind {} in a transform", frame.kind)).into()));
        }
        Ok(())
    }

    fn converse(&self, sequence: u64, server: &mut dyn Server) -> Result<Frame> {
        loop {
            let frame = self.guard(self.receive())?;
            match frame.kind {
                kind::READY | kind::SPACE | kind::DONE | kind::FAIL => {
                    if frame.sequence != sequence {
                        let text =
                            format!("an answer to frame {}, where {sequence} was sent", frame.sequence);
                        return self.guard(Err(Wrong(text).into()));
                    }
                    self.is_busy.set(false);
                    return self.guard(self.answered(frame));
                }
                _ => {
                    let expected = self.requested.get().wrapping_add(1);
                    if frame.sequence != expected {
                        let text = format!("request {} where {expected} is the next", frame.sequence);
                        return self.guard(Err(Wrong(text).into()));
                    }
                    self.requested.set(expected);
                    let served = match frame.kind {
                        kind::LOG => self.log(&frame),
                        _ => server.serve(&frame, self),
                    };
                    // Whatever failed, the child waits for a reply that does not come.
                    let reply = served.inspect_err(|failure| self.give_up(failure.to_string()))?;
                    let bytes =
                        frame::encode(kind::REPLY, 0, reply.status, expected, &reply.integers, &reply.reals);
                    self.child.borrow().send(&bytes);
                }
            }
        }
    }

    /// An answer, or the error that it stands for.
    fn answered(&self, frame: Frame) -> Result<Frame> {
        if frame.kind != kind::FAIL {
            return Ok(frame);
        }
        if let Some(traceback) = frame.field("traceback").and_then(Value::as_str) {
            self.host.log(log_level::WARNING, traceback.trim_end());
        }
        let status = i32::try_from(frame.integer("status")?).unwrap_or(Status::ERROR.0);
        let status = if status < 0 { Status(status) } else { Status::ERROR };
        Err(Failure::Error(status, frame.text("text")?.to_owned()))
    }

    fn log(&self, frame: &Frame) -> Result<Reply> {
        let level = match frame.text("level")? {
            "warning" => log_level::WARNING,
            "debug" => log_level::DEBUG,
            _ => log_level::INFO,
        };
        self.host.log(level, frame.text("text")?);
        Ok(Reply::default())
    }

    /// The next frame of the child. Does not return if the child has ended by itself: this process then ends in the
    /// same way.
    fn receive(&self) -> Result<Frame> {
        let mut child = self.child.borrow_mut();
        let what = "no frame can be received from the Python process";
        match child.receive().map_err(|error| Failure::System { what, error })? {
            Received::Datagram(length) if length > frame::MOST => {
                Err(Wrong(format!("a frame of {length} bytes")).into())
            }
            Received::Datagram(length) => Ok(frame::decode(child.bytes(length))?),
            Received::Closed => Err(Wrong("it closed its socket".to_owned()).into()),
            Received::Ended(status) => {
                self.host.log(log_level::WARNING, &format!("the Python process has ended: {status}"));
                end_like(status)
            }
        }
    }

    /// Ends the child if what it sent is malformed.
    pub fn checked<T>(&self, outcome: Result<T, Wrong>) -> Result<T> {
        self.guard(outcome.map_err(Failure::from))
    }

    /// Ends the child if it broke the protocol, and passes the outcome on.
    fn guard<T>(&self, outcome: Result<T>) -> Result<T> {
        if let Err(failure @ (Failure::Protocol(_) | Failure::System { .. })) = &outcome {
            self.give_up(failure.to_string());
        }
        outcome
    }

    /// Ends the child, which can be used no more.
    fn give_up(&self, reason: String) {
        self.over.borrow_mut().get_or_insert(reason);
        self.is_busy.set(false);
        self.child.borrow_mut().kill();
    }

    fn next(&self) -> u64 {
        self.sent.set(self.sent.get() + 1);
        self.sent.get()
    }

    fn send(&self, kind: u16, flags: u16, status: Status, integers: &[i64], reals: &[f64]) -> u64 {
        let sequence = self.next();
        self.child.borrow().send(&frame::encode(kind, flags, status.0, sequence, integers, reals));
        sequence
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.over.get_mut().is_none() {
            self.child.get_mut().end();
        }
    }
}

/// Content of a `CREATE` frame.
pub fn create(object: i64, class: &str, is_learner: bool, params: Value) -> Value {
    let kind = if is_learner { "learner" } else { "solver" };
    json!({ "object": object, "class": class, "kind": kind, "params": params })
}
