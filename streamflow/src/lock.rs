//! The locks of the library: a spin lock for short sections, and how a standard mutex is locked.

use std::cell::Cell;
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
/// The standard library's mutex costs two locked instructions, since unlocking must check for sleeping threads. This
/// lock wakes no thread, so unlocking is a plain store: a tick of NVIDIA's CudaStreamPool example takes a fifth less of
/// our own time. A thread that finds it taken tries again, and lets other threads run in between. Nothing panics while
/// it is held; if a driver did, the lock would be released and not poisoned.
///
/// The exception is a kernel that the simulator executes: the simulator is called under these locks, and the
/// kernel's body is user code. If the body uses the platform that executes it, it can meet a lock that its own
/// thread holds, and panics after many attempts.
pub(crate) type Lock<T> = SpinMutex<T, Backoff>;

/// The guard of a [`Lock`].
pub(crate) type Held<'a, T> = SpinMutexGuard<'a, T, Backoff>;

/// Locks a mutex of the standard library, for long sections: waiting threads sleep. Every mutex that is held
/// during driver calls is locked by this function. A thread that takes turns hands on its turn until the mutex is
/// free. Inside a kernel's body, a mutex that never becomes free ends in a panic.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    while turns::takes_turns() || turns::holds_turn() {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => Backoff::relax(),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread does between two attempts to take a lock.
#[derive(Debug)]
pub(crate) enum Backoff {}

/// Attempts per round. The last one of a round sleeps.
const ROUND: u32 = 256;

/// The attempts at the beginning of a round that spin: a lock that another core holds is mostly free soon.
const SPINS: u32 = 128;

/// The sleep at the end of a round, so that a lock holder of lower priority can go on.
const SLEEP: Duration = Duration::from_micros(20);

impl RelaxStrategy for Backoff {
    #[cold]
    #[inline(never)]
    #[allow(
        clippy::panic,
        reason = "`lock` has no other way to end, and the caller of the kernel catches it"
    )]
    fn relax() {
        // The thread that holds the lock may have handed on its turn in a driver call.
        turns::yield_turn();
        if turns::would_deadlock() {
            panic!(
                "its body uses its platform, and the call that executes it holds the lock that it needs"
            );
        }
        thread_local! {
            // One count for all locks. That only changes where a round begins.
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
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    #[test]
    fn a_kernel_body_that_needs_a_lock_of_its_own_thread_panics() {
        let (spin, sleep) = (Lock::new(1), Mutex::new(2));
        let (one, two) = (spin.lock(), locked(&sleep));
        let second = catch_unwind(AssertUnwindSafe(|| turns::hold_turn(|| *spin.lock())));
        assert!(second.is_err());
        let second = catch_unwind(AssertUnwindSafe(|| turns::hold_turn(|| *locked(&sleep))));
        assert!(second.is_err());
        drop((one, two));
        assert_eq!(turns::hold_turn(|| (*spin.lock(), *locked(&sleep))), (1, 2));
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
                        // Longer than the other threads spin, so that they yield and sleep.
                        (0..50).for_each(|_| thread::yield_now());
                        both.1 += 1;
                    }
                });
            }
        });
        assert_eq!(shared.into_inner(), (4 * EACH, 4 * EACH));
    }
}
