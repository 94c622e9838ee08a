//! The lock around what is held for a moment.

use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use spin::RelaxStrategy;
use spin::mutex::{SpinMutex, SpinMutexGuard};

use crate::turns;

/// A lock around a few instructions and, at most, a few driver calls that don't wait for the device, but
/// where a stream is so full that CUDA holds up who queues more. It is nearly always free, and a tick takes
/// tens of them. No code of a user runs within: no message is dropped there, and nothing is logged.
///
/// The standard library's costs two locked instructions, since who leaves it must see whether somebody
/// sleeps. Here nobody is woken, so leaving is a plain store: a tick of the seed's application takes a fifth
/// less of our own time. Who finds it taken looks again, and in between lets others run. Nothing
/// within panics; if a driver did, the lock would be given up, and not be poisoned.
///
/// A kernel that the simulator executes is code of a user within: the simulator is called under these locks.
/// Where its body uses the platform that executes it, it can find one taken by its own thread, and panics after
/// many looks.
pub(crate) type Lock<T> = SpinMutex<T, Backoff>;

/// What a lock holds, while it is held.
pub(crate) type Held<'a, T> = SpinMutexGuard<'a, T, Backoff>;

/// Locks a mutex of the standard library, for what may be held for long: those that wait sleep. Whoever locks
/// it takes it by this, if it is held in calls of the driver: a thread that takes turns hands on its own until
/// it is free, and inside of a kernel's body one that is never free ends by a panic.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    while turns::takes_turns() || turns::is_kept() {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => Backoff::relax(),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread does between two looks at a lock that another has.
#[derive(Debug)]
pub(crate) enum Backoff {}

/// So many looks in a row are a round.
const ROUND: u32 = 256;

/// The looks of a round for which another core is expected to be done at once.
const AT_ONCE: u32 = 128;

/// The last of a round: also a holder of lower priority gets on then.
const NAP: Duration = Duration::from_micros(20);

impl RelaxStrategy for Backoff {
    #[cold]
    #[inline(never)]
    #[allow(
        clippy::panic,
        reason = "`lock` has no other way to end, and who calls the kernel catches it"
    )]
    fn relax() {
        // The holder may have handed on its turn in a call of the driver.
        turns::rest();
        if turns::is_stuck() {
            panic!(
                "it uses its platform, and what it needs is locked by the call that executes it"
            );
        }
        thread_local! {
            // It goes on from one lock to the next, which only changes where a round begins.
            static LOOKS: Cell<u32> = const { Cell::new(0) };
        }
        let looks = LOOKS.get() % ROUND;
        LOOKS.set(looks + 1);
        if looks < AT_ONCE {
            spin_loop();
        } else if looks < ROUND - 1 {
            thread::yield_now();
        } else {
            thread::sleep(NAP);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn what_its_own_thread_has_is_a_panic_inside_of_a_kernel() {
        let (spin, sleep) = (Lock::new(1), Mutex::new(2));
        let (one, two) = (spin.lock(), locked(&sleep));
        let again = catch_unwind(AssertUnwindSafe(|| turns::keep(|| *spin.lock())));
        assert!(again.is_err());
        let again = catch_unwind(AssertUnwindSafe(|| turns::keep(|| *locked(&sleep))));
        assert!(again.is_err());
        drop((one, two));
        assert_eq!(turns::keep(|| (*spin.lock(), *locked(&sleep))), (1, 2));
    }

    #[test]
    fn threads_that_meet_go_one_after_the_other() {
        const EACH: u64 = 5_000;
        let shared = Lock::new((0_u64, 0_u64));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..EACH {
                        let mut both = shared.lock();
                        both.0 += 1;
                        // Longer than others look without letting anybody run.
                        (0..50).for_each(|_| thread::yield_now());
                        both.1 += 1;
                    }
                });
            }
        });
        assert_eq!(shared.into_inner(), (4 * EACH, 4 * EACH));
    }
}
