//! Threads of a test. They take turns if the test is explored.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};

use super::{Registration, Thread as Member, current, yield_turn};

/// Runs `body`, which may spawn threads that borrow from outside of it, and waits for all threads, as
/// [`std::thread::scope`].
///
/// In a test that `streamflow::testing` explores, the threads take turns, and
/// their order is explored: the same seed gives the same run. Elsewhere they are ordinary threads.
///
/// # Panics
/// If a thread panicked that was not [joined](ScopedJoinHandle::join).
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    thread::scope(|inner| {
        let current = current();
        let number = current.as_ref().map_or(0, Member::new_scope);
        // The `Scope` must live as long as the threads, and for the compiler no value of this closure lives that long.
        let scope: &Scope<'_, '_> = Box::leak(Box::new(Scope { inner, number }));
        // The guard waits also when `body` panics: the other threads get the turn only while this thread waits for them.
        let _wait = current.map(|me| WaitForAll { me, number });
        body(scope)
    })
}

/// Lets other threads run, as [`std::thread::yield_now`], in a loop that waits for another thread of the host, for
/// example for a message of a channel.
///
/// In a test that is explored, a thread that *blocks* and does not call this keeps the other threads from their turns,
/// and the run ends with an error that names the thread.
pub fn yield_now() {
    if !yield_turn() {
        thread::yield_now();
    }
}

/// A guard whose drop waits for all threads of a scope. It exists only where threads take turns.
struct WaitForAll {
    me: Member,
    number: u64,
}

impl Drop for WaitForAll {
    fn drop(&mut self) {
        self.me.join_scope(self.number);
    }
}

/// A [`scope`] that spawns threads, as [`std::thread::Scope`].
pub struct Scope<'scope, 'env> {
    inner: &'scope thread::Scope<'scope, 'env>,
    number: u64,
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a thread, as [`std::thread::Scope::spawn`]. The thread may spawn others itself.
    ///
    /// # Panics
    /// If the operating system can't make a thread.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let returned = Arc::new(Mutex::new(None));
        let to = returned.clone();
        let (me, caller) = (current(), Location::caller());
        let registration = me.as_ref().map(|me| me.register(self.number, caller));
        let member = registration.as_ref().map(Registration::thread);
        let inner = self.inner.spawn(move || {
            // The thread takes part in the run until all values of its closure are dropped.
            let _participation = registration.map(Registration::begin);
            let value = body();
            *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            drop(to);
        });
        if let Some(me) = me {
            me.spawned();
        }
        ScopedJoinHandle { inner, member, returned }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// A thread of a [`scope`]. As [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    inner: thread::ScopedJoinHandle<'scope, ()>,
    /// The thread's handle in the run; `None` outside of an explored test.
    member: Option<Member>,
    returned: Arc<Mutex<Option<T>>>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// The thread, as [`std::thread::ScopedJoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        self.inner.thread()
    }

    /// Waits for the end of the thread, and returns its value.
    ///
    /// # Errors
    /// The payload of its panic, if the thread panicked.
    pub fn join(self) -> thread::Result<T> {
        if let (Some(me), Some(other)) = (current(), &self.member) {
            me.join(other);
        }
        self.inner.join()?;
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner).take();
        match returned {
            Some(value) => Ok(value),
            None => unreachable!("a thread that did not panic has returned"),
        }
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        // A thread may call this in a loop, so it yields its turn: the other thread can run then.
        yield_turn();
        let ended = self.member.as_ref().and_then(Member::has_ended);
        ended.unwrap_or_else(|| self.inner.is_finished())
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").field("thread", self.thread()).finish_non_exhaustive()
    }
}
