//! A layer that records all driver calls.

mod call;
mod layer;
mod names;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use self::call::{Call, RecordedAccess};
use self::names::Names;
pub use self::names::{RecordedRange, StreamLabel};
use super::{Driver, DriverResult, RawStream};

/// Wraps a driver and records every call, in order, as a [`Call`].
///
/// Queries that do nothing on the driver are not recorded: names, counts, device information, the default
/// stream and the sticky error.
///
/// The calls of one thread are in the order of that thread. Calls of several threads are in an order that
/// agrees with every synchronisation between the threads.
///
/// Each recorded call takes a lock and may allocate. While the recorder is [paused](Self::pause), only calls that
/// create or allocate take the lock: new objects still get their numbers, so a log that begins late has the same
/// numbers as a log that begins early.
pub struct Recorder {
    below: Arc<dyn Driver>,
    recording: AtomicBool,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    names: Names,
    calls: Vec<Call>,
}

impl Recorder {
    /// Wraps `below`, and records from now on.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, recording: AtomicBool::new(true), log: Mutex::default() }
    }

    /// All calls so far, since the last [`clear`](Self::clear).
    pub fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    /// All calls so far, a line each.
    pub fn text(&self) -> String {
        self.lock().calls.iter().map(|call| format!("{call}\n")).collect()
    }

    /// The number of calls so far that match.
    pub fn count(&self, wanted: impl Fn(&Call) -> bool) -> usize {
        // `calls` releases the lock before the caller's closure runs.
        self.calls().iter().filter(|call| wanted(call)).count()
    }

    /// Forgets the calls so far. The numbering continues.
    pub fn clear(&self) {
        self.lock().calls.clear();
    }

    /// Stops recording.
    pub fn pause(&self) {
        self.recording.store(false, Ordering::Release);
    }

    /// Resumes recording.
    pub fn resume(&self) {
        self.recording.store(true, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        // If a thread panicked while it held the lock, at most one call is missing in the log.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_recording(&self) -> bool {
        self.recording.load(Ordering::Acquire)
    }

    /// Records a call that is about to be made.
    fn note(&self, call: impl FnOnce(&mut Names) -> Call) {
        if self.is_recording() {
            let Log { names, calls } = &mut *self.lock();
            calls.push(call(names));
        }
    }

    /// Records a call on a stream that is about to be made.
    fn record_on(&self, stream: RawStream, call: impl FnOnce(&mut Names, StreamLabel) -> Call) {
        let default = self.below.default_stream(stream.device());
        self.note(|names| {
            let stream = names.stream(stream, default);
            call(names, stream)
        });
    }

    /// Records a call that made an object or memory. `call` runs also while the recorder is paused, because it assigns
    /// the object's number.
    fn record_made<T>(
        &self,
        name: &'static str,
        made: DriverResult<T>,
        call: impl FnOnce(&mut Names, &T) -> Call,
    ) -> DriverResult<T> {
        if let Ok(made) = &made {
            let Log { names, calls } = &mut *self.lock();
            let call = call(names, made);
            if self.is_recording() {
                calls.push(call);
            }
        }
        self.record_failure(name, made)
    }

    /// Records the failure of a call, if it has failed.
    fn record_failure<T>(&self, call: &'static str, result: DriverResult<T>) -> DriverResult<T> {
        if let Err(error) = &result {
            self.note(|_| Call::Failed { call, error: error.to_string().into() });
        }
        result
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The lock is released before the output is written: the writer is the caller's code.
        let calls = self.lock().calls.len();
        f.debug_struct("Recorder")
            .field("below", &self.below)
            .field("calls", &calls)
            .finish_non_exhaustive()
    }
}
