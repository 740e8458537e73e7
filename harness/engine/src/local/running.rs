//! A running worker, watched from its start until it and all that it has forked have ended.

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use gpbench_processes::Started;
use gpbench_record::{Limits, Message};
use rustix::process::Signal;

use super::control_group::ControlGroup;
use super::family::Family;
use super::log::cut_log;
use super::machine::machine_memory;
use super::memory::resident;
use super::pace::{TICK, pause};
use super::running_time::RunningTime;
use super::stream::Output;
use crate::executor::is_terminal;
use crate::{End, Interrupt, Outcome};

/// Time between the first two checks of a worker that should end at once. It doubles up to the other.
const SHORTEST_TICK: Duration = Duration::from_micros(50);
const SHORT_TICK: Duration = Duration::from_millis(2);
/// Time after which memory over the limit is confirmed: a process that has just been forked to start another program has
/// the memory of its parent, and seems to have it a second time.
const FORK_TIME: Duration = Duration::from_millis(2);

/// A running worker that is watched.
pub(super) struct Running {
    worker: Started,
    family: Family,
    output: Receiver<Output>,
    log: PathBuf,
    time: RunningTime,
    limits: Limits,
    grace: Duration,
    control_group: Option<ControlGroup>,
    messages: Vec<Message>,
    peak_memory_bytes: u64,
    /// Time to the next check of its memory.
    pause: Duration,
    /// When its memory was checked last.
    memory_checked: Option<Instant>,
    /// When the other limits were checked last.
    checked: Option<Instant>,
    /// When it was last seen within its limits.
    within_limits: Instant,
    /// The time that it had had when it reported its result or closed its output.
    ending_since: Option<Duration>,
}

impl Running {
    /// A worker that has just started.
    pub(super) fn new(
        worker: Started,
        output: Receiver<Output>,
        log: PathBuf,
        (limits, grace): (Limits, Duration),
        control_group: Option<ControlGroup>,
    ) -> Self {
        let started = Instant::now();
        Self {
            family: Family::of(worker.id()),
            worker,
            output,
            log,
            time: RunningTime::since(started),
            limits,
            grace,
            control_group,
            messages: Vec::new(),
            peak_memory_bytes: 0,
            pause: TICK,
            memory_checked: None,
            checked: None,
            within_limits: started,
            ending_since: None,
        }
    }

    /// Waits until the worker has ended or is to be killed, and kills what is left of it. `seen` gets each message as it
    /// comes.
    pub(super) fn watch(mut self, interrupt: &Interrupt, seen: &dyn Fn(&Message)) -> Outcome {
        let cause = self.until_over(interrupt, seen);
        if let Some(group) = &self.control_group {
            group.kill();
        }
        let status = self.worker.end(self.grace);
        let seconds_over_limit = cause.as_ref().and_then(|cause| self.seconds_over_limit(cause));
        let unread = if cause == Some(End::Interrupted) { None } else { self.drain() };
        let end = cause.or(unread).unwrap_or_else(|| match status {
            Ok(status) => self.own_end(status),
            Err(error) => End::NotStarted { reason: format!("cannot wait for it: {error}") },
        });
        let (peak_memory_bytes, stood_still) = (self.peak_memory_bytes, self.time.standstill());
        Outcome { messages: self.messages, end, peak_memory_bytes, seconds_over_limit, stood_still }
    }

    /// Seconds since the worker reached the limit that it was killed for; where that moment is not known, since the
    /// last check before it.
    fn seconds_over_limit(&self, cause: &End) -> Option<f64> {
        match cause {
            End::TimedOut { limit } => Some(self.time.elapsed_until(Instant::now()).as_secs_f64() - limit),
            End::OutOfMemory { .. } | End::CpuSpent { .. } => {
                Some(self.within_limits.elapsed().as_secs_f64())
            }
            _ => None,
        }
    }

    /// Waits until the process has ended by itself (`None`) or is to be killed.
    fn until_over(&mut self, interrupt: &Interrupt, seen: &dyn Fn(&Message)) -> Option<End> {
        let mut last_check = Instant::now();
        let mut open = true;
        let mut pause = SHORTEST_TICK;
        loop {
            if open {
                match self.output.recv_timeout(self.pause) {
                    Ok(Output::Message(message)) => {
                        seen(&message);
                        self.receive(*message);
                    }
                    Ok(Output::Garbled(sample)) => return Some(End::Garbled { sample }),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        open = false;
                        self.ending_since.get_or_insert(self.time.elapsed());
                    }
                }
            } else {
                thread::sleep(pause);
                pause = (2 * pause).min(SHORT_TICK);
            }
            self.look();
            // Many messages must not keep the limits from being checked, and not every message needs a check.
            if open && self.ending_since.is_none() && last_check.elapsed() < self.pause {
                continue;
            }
            last_check = Instant::now();
            if self.worker.has_ended() {
                return None;
            }
            if interrupt.signal().is_some() {
                return Some(End::Interrupted);
            }
            if let Some(end) = self.over_limit() {
                return Some(end);
            }
        }
    }

    /// Notes that this process ran.
    fn look(&mut self) {
        let (family, group) = (&self.family, self.control_group.as_ref());
        self.time.look(Instant::now(), || cpu_seconds(family, group));
    }

    fn receive(&mut self, message: Message) {
        if is_terminal(&message) {
            self.ending_since.get_or_insert(self.time.elapsed());
        }
        self.messages.push(message);
    }

    fn over_limit(&mut self) -> Option<End> {
        // Until the very end: closing the output must not lift the limit.
        if let Some(end) = self.over_memory() {
            return Some(end);
        }
        if let Some(since) = self.ending_since {
            cut_log(&self.log);
            return (self.time.elapsed() > since + self.grace).then_some(End::Lingered);
        }
        if self.checked.is_some_and(|time| time.elapsed() < TICK) {
            return None;
        }
        self.checked = Some(Instant::now());
        cut_log(&self.log);
        let cpu_seconds = cpu_seconds(&self.family, self.control_group.as_ref());
        self.time.note_cpu(cpu_seconds);
        if let Some(limit) = self.limits.cpu_seconds.filter(|limit| cpu_seconds > *limit) {
            return Some(End::CpuSpent { limit });
        }
        self.within_limits = Instant::now();
        let limit = self.limits.kill_after_seconds?;
        (self.time.elapsed().as_secs_f64() > limit).then_some(End::TimedOut { limit })
    }

    fn over_memory(&mut self) -> Option<End> {
        if self.memory_checked.is_some_and(|time| time.elapsed() < self.pause) {
            return None;
        }
        let group = self.control_group.as_ref();
        let mut end = None;
        match self.limits.memory_bytes {
            Some(limit) => {
                self.family.look_up_if_grown(group);
                let bytes = self.memory_within(limit);
                end = (bytes > limit).then_some(End::OutOfMemory { bytes, limit });
            }
            None => {
                self.family.look_up_at_times(group);
                self.note_peak();
            }
        }
        self.memory_checked = Some(Instant::now());
        end
    }

    /// Bytes of memory that the worker and its descendants use, exact where they may be over the limit, and sets the time
    /// of the next check.
    fn memory_within(&mut self, limit: u64) -> u64 {
        let began = Instant::now();
        let mut bytes = self.family.memory_at_most();
        if bytes > limit {
            bytes = self.family.memory();
            if bytes > limit && self.family.count() > 1 {
                thread::sleep(FORK_TIME);
                self.family.look_up_if_grown(self.control_group.as_ref());
                bytes = self.family.memory_at_most().min(self.family.memory());
            }
        }
        self.peak_memory_bytes = self.peak_memory_bytes.max(bytes);
        self.pause = pause(limit.saturating_sub(bytes), began.elapsed());
        bytes
    }

    /// Notes the memory of a worker that may use any, which is counted exactly only where that takes no time.
    fn note_peak(&mut self) {
        if self.family.count() == 1 {
            self.peak_memory_bytes = self.peak_memory_bytes.max(resident(self.worker.id()));
        }
    }

    /// Receives the remaining messages up to the terminal one; how the worker counts as ended if there is something else
    /// among them. All writers have ended by now, except one that has escaped: it is not waited for.
    fn drain(&mut self) -> Option<End> {
        let deadline = Instant::now() + self.grace;
        while !self.messages.last().is_some_and(is_terminal) {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Output::Message(message)) => self.receive(*message),
                Ok(Output::Garbled(sample)) => return Some(End::Garbled { sample }),
                Err(_) => return None,
            }
        }
        None
    }

    fn own_end(&self, status: ExitStatus) -> End {
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, signal) => {
                let signal = signal.unwrap_or_default();
                let killed = signal == Signal::KILL.as_raw();
                let bounded = self.limits.memory_bytes.filter(|_| killed);
                if let (Some(limit), Some(group)) = (bounded, &self.control_group)
                    && group.ran_out_of_memory()
                {
                    return End::OutOfMemory { bytes: self.peak_memory_bytes.max(limit), limit };
                }
                if let Some(limit) = self.limits.cpu_seconds.filter(|_| signal == Signal::XCPU.as_raw()) {
                    return End::CpuSpent { limit };
                }
                let memory_pressure = killed
                    && memory_nearly_full(self.peak_memory_bytes, self.limits.memory_bytes, machine_memory());
                End::Signalled { signal, memory_pressure }
            }
        }
    }
}

/// Processor seconds of a worker and all that it has started.
fn cpu_seconds(family: &Family, group: Option<&ControlGroup>) -> f64 {
    group.and_then(ControlGroup::cpu_seconds).unwrap_or_else(|| family.cpu_seconds())
}

/// Whether a process killed from outside was near its own limit, or held so much
/// of the machine's memory that the system is the likely killer.
fn memory_nearly_full(peak: u64, limit: Option<u64>, machine: Option<u64>) -> bool {
    limit.is_some_and(|limit| peak as f64 > 0.8 * limit as f64)
        || machine.is_some_and(|machine| peak > machine / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_nearly_full_near_a_limit() {
        assert!(memory_nearly_full(90, Some(100), None));
        assert!(!memory_nearly_full(70, Some(100), Some(1000)));
        assert!(memory_nearly_full(600, None, Some(1000)));
        assert!(!memory_nearly_full(400, None, None));
    }
}
