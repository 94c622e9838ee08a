//! The locks of the library: a spin lock for short sections, and how a standard mutex is locked.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

use crate::sync::spin::RelaxStrategy;
use crate::sync::spin::mutex::{SpinMutex, SpinMutexGuard};
use crate::sync::{Mutex, MutexGuard, sleep, spin_loop, yield_now};
use crate::turns;

/// A spin lock for a few instructions and, at most, a few driver calls. These calls don't wait for the device,
/// unless a stream is so full that CUDA blocks the thread that queues more. The lock is almost always free, and a
/// tick takes tens of them. No user code runs while it is held: no message is dropped, and nothing is logged.
///
/// The standard library's mutex costs two atomic instructions, since unlocking must check for sleeping threads. This lock
/// wakes no thread, so unlocking is a plain store: streamflow's own share of a tick of NVIDIA's CudaStreamPool example takes
/// a fifth less time. A thread that finds the lock taken tries again, and lets other threads run in between. Nothing panics
/// while the lock is held; if a driver did, the lock would be released and not poisoned.
///
/// Bodies of kernels are user code, too, and the simulator executes them in the calls of its driver: a call under a lock
/// executes no body. The calls that [`Driver`](crate::driver::Driver#bodies) lists never execute one; others are made within
/// [`hold`]. A build with debug assertions counts the locks of each thread, and the simulator asserts that a body begins
/// under none.
#[derive(Debug, Default)]
pub struct Lock<T>(SpinMutex<T, Backoff>);

/// The guard of a [`Lock`].
#[derive(Debug)]
pub struct Held<'a, T> {
    guard: SpinMutexGuard<'a, T, Backoff>,
    _counted: Counted,
}

impl<T> Lock<T> {
    #[doc(hidden)]
    #[inline]
    pub fn new(value: T) -> Self {
        Self(SpinMutex::new(value))
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn lock(&self) -> Held<'_, T> {
        let guard = self.0.lock();
        Held { guard, _counted: Counted::new() }
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn try_lock(&self) -> Option<Held<'_, T>> {
        let guard = self.0.try_lock()?;
        Some(Held { guard, _counted: Counted::new() })
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Counts one held [`Lock`] of the calling thread, from when it is taken to its release, in builds with debug assertions.
#[derive(Debug)]
struct Counted;

#[cfg(debug_assertions)]
thread_local! {
    /// The number of [`Lock`]s that this thread holds.
    static LOCKS: Cell<u32> = const { Cell::new(0) };
}

impl Counted {
    #[inline(always)]
    fn new() -> Self {
        #[cfg(debug_assertions)]
        LOCKS.set(LOCKS.get() + 1);
        Self
    }
}

#[cfg(debug_assertions)]
impl Drop for Counted {
    fn drop(&mut self) {
        LOCKS.set(LOCKS.get() - 1);
    }
}

/// Asserts, in builds with debug assertions, that the calling thread holds no [`Lock`]: user code begins.
#[inline(always)]
pub(crate) fn assert_none(what: &str) {
    #[cfg(debug_assertions)]
    assert_eq!(LOCKS.get(), 0, "{what} begins under locks of the library");
    #[cfg(not(debug_assertions))]
    let _unused = what;
}

/// Locks a mutex of the standard library, for long sections: waiting threads sleep. Every mutex that is held during
/// driver calls is locked by this function. A thread that takes turns gives up its turn again and again until the mutex
/// is free.
///
/// [`hold`] counts a lock, under which no code of the program may begin. It does not apply to two kinds of mutexes, under which
/// bodies of kernels and host functions execute. A mutex of the first kind assigns a
/// node to a worker for the time of a hook. No thread waits for such a mutex: the board of the workers assigns a node
/// to one worker at a time, before the node's mutex is locked. A mutex of the second kind gives a thread the right to
/// wait for the device: to poll for all workers, or to release free memory when the driver has none. A thread that
/// waits for a mutex of the second kind waits for the device, and a body that waits for that thread waits for itself.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    while turns::takes_turns() {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => Backoff::relax(),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// The number of [`Hold`]s of this thread.
    static HELD: Cell<u32> = const { Cell::new(0) };
}

/// A guard for driver calls under a lock of this library. Until it is dropped, driver calls of this thread execute no user
/// code: user code could wait for another thread that waits for this lock. After dropping the guard, the thread calls
/// [`catch_up`](crate::driver::Observer::catch_up).
///
/// A call that blocks still executes the work that it waits for. No blocking call is made under a [`Lock`]. Under a mutex the
/// host waits for a stream only where a record has failed, and no drop takes that mutex.
#[must_use]
#[derive(Debug)]
pub struct Hold(PhantomData<*const ()>);

/// Returns a [`Hold`] of the calling thread.
#[inline]
pub fn hold() -> Hold {
    HELD.set(HELD.get() + 1);
    Hold(PhantomData)
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
    }
}

/// Whether the calling thread has a [`Hold`].
#[inline]
pub fn is_held() -> bool {
    HELD.get() > 0
}

/// The pause of a thread between two attempts to take a lock.
#[derive(Debug)]
pub enum Backoff {}

/// The number of attempts to take a lock in one round. At the last attempt the thread sleeps.
const ROUND: u32 = 256;

/// The number of attempts at the beginning of a round that only spin: a lock that another core holds is usually free soon.
const SPINS: u32 = 128;

/// The length of the sleep at the end of a round, so that a lock holder of lower priority can go on.
const SLEEP: Duration = Duration::from_micros(20);

impl RelaxStrategy for Backoff {
    #[cold]
    #[inline(never)]
    fn relax() {
        // The thread that holds the lock may have passed on its turn in a driver call.
        turns::yield_turn();
        thread_local! {
            // All locks of a thread share this count. The sharing changes only at which attempt a round begins.
            static ATTEMPTS: Cell<u32> = const { Cell::new(0) };
        }
        let attempt = ATTEMPTS.get() % ROUND;
        ATTEMPTS.set(attempt + 1);
        if attempt < SPINS {
            spin_loop();
        } else if attempt < ROUND - 1 {
            yield_now();
        } else {
            sleep(SLEEP);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::thread;

    use super::*;

    #[test]
    fn a_thread_holds_a_lock_until_the_last_guard_is_dropped() {
        assert!(!is_held());
        let outer = hold();
        drop(hold());
        assert!(is_held());
        assert!(!thread::spawn(is_held).join().unwrap());
        drop(outer);
        assert!(!is_held());
    }

    #[test]
    fn only_one_thread_holds_the_lock_at_a_time() {
        const EACH: u64 = 5_000;
        let shared = Lock::new((0_u64, 0_u64));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..EACH {
                        let mut both = shared.lock();
                        both.0 += 1;
                        // This thread holds the lock for longer than the other threads spin, so that they yield and sleep.
                        (0..50).for_each(|_| thread::yield_now());
                        both.1 += 1;
                    }
                });
            }
        });
        assert_eq!(*shared.lock(), (4 * EACH, 4 * EACH));
    }
}
