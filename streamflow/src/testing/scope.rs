//! Threads of a test.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};

/// Runs `body`, which may spawn threads that borrow from outside of it, and waits for all of them: as
/// [`std::thread::scope`].
///
/// In a test that [`explore`](super::explore) or an [`Explorer`](super::Explorer) runs, the threads take
/// turns, and who is next is part of what is explored: the same seed gives the same run. Anywhere else they
/// are ordinary threads.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::{explore, scope};
///
/// /// data[i] = value
/// #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < data_len) data[i] = value;")]
/// fn fill(data: &mut [f32], value: f32) {
///     data.fill(value);
/// }
///
/// # fn main() -> Result<()> {
/// explore(|platform| {
///     let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
///     let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
///     let mut data = platform.buffer::<f32>(4, &a)?;
///     a.launch::<fill>(4, (&mut data, 1.0))?;
///     let data = &data;
///     scope(|scope| {
///         // A stream goes to one thread, as it can't be shared; what is only read can be.
///         let thread = scope.spawn(move || b.download_blocking(data));
///         assert_eq!(a.download_blocking(data)?, [1.0; 4]);
///         assert_eq!(thread.join().expect("it does not panic")?, [1.0; 4]);
///         Ok(())
///     })
/// })
/// # }
/// ```
///
/// # Panics
/// If a thread panicked that was not [joined](ScopedJoinHandle::join).
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    thread::scope(|inner| {
        // It is to live as long as its threads, which the compiler knows of nothing that is made in here.
        let scope: &Scope<'_, '_> = Box::leak(Box::new(Scope { inner }));
        body(scope)
    })
}

/// Spawns threads: see [`scope`]. As [`std::thread::Scope`].
pub struct Scope<'scope, 'env> {
    inner: &'scope thread::Scope<'scope, 'env>,
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a thread, as [`std::thread::Scope::spawn`]. It may spawn others itself.
    ///
    /// # Panics
    /// If the operating system makes no thread.
    pub fn spawn<F, T>(&'scope self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let returned = Arc::new(Mutex::new(None));
        let to = returned.clone();
        let inner = self.inner.spawn(move || {
            let value = body();
            *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        });
        ScopedJoinHandle { inner, returned }
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
    returned: Arc<Mutex<Option<T>>>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// The thread.
    pub fn thread(&self) -> &Thread {
        self.inner.thread()
    }

    /// Waits for the thread's end, and gives what it returned.
    ///
    /// # Errors
    /// If the thread panicked, what it panicked with.
    pub fn join(self) -> thread::Result<T> {
        self.inner.join()?;
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner).take();
        match returned {
            Some(value) => Ok(value),
            None => unreachable!("a thread that did not panic has returned"),
        }
    }

    /// Whether the thread has come to its end.
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").field("thread", self.thread()).finish_non_exhaustive()
    }
}
