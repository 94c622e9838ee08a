//! A thread that runs a graph. In an explored test, this thread takes turns with the test's other threads.

use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::{fmt, io};

use crate::turns::{self, Registration};

/// The handle of a thread that returns a value. If the handle is dropped, the thread goes on.
pub(super) struct RunThread<T> {
    inner: JoinHandle<()>,
    /// The thread's number among the threads that take turns; `None` outside of an explored test.
    member: Option<turns::Thread>,
    returned: Arc<Mutex<Option<T>>>,
}

impl<T: Send + 'static> RunThread<T> {
    /// Creates a thread that calls `body`.
    ///
    /// # Errors
    /// The error of the operating system. `body` has then been dropped.
    #[track_caller]
    pub(super) fn spawn(name: &str, body: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        let returned = Arc::new(Mutex::new(None));
        let to = returned.clone();
        let (me, caller) = (turns::current(), Location::caller());
        // The thread is not a scoped one, since the owner of the handle waits for it.
        let registration = me.as_ref().map(|me| me.register(0, caller));
        let member = registration.as_ref().map(Registration::thread);
        let inner = thread::Builder::new().name(name.to_owned()).spawn(move || {
            // In an explored test, the thread takes turns until this value is dropped, after all its other values.
            let _participation = registration.map(Registration::begin);
            let value = body();
            *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            drop(to);
        })?;
        if let Some(me) = me {
            me.spawned();
        }
        Ok(Self { inner, member, returned })
    }

    /// Whether the calling thread is the thread of this handle.
    pub(super) fn is_current(&self) -> bool {
        self.inner.thread().id() == thread::current().id()
    }

    /// Waits for the end of the thread, and returns its value; `None` if the thread panicked. Must be called on another thread.
    pub(super) fn join(self) -> Option<T> {
        if let (Some(me), Some(other)) = (turns::current(), &self.member) {
            me.join(other);
        }
        // If the thread has panicked, the result is an error, and there is no value to take.
        let _ = self.inner.join();
        self.returned.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> fmt::Debug for RunThread<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunThread").field("thread", self.inner.thread()).finish_non_exhaustive()
    }
}
