//! The atomics, the mutex and the condition variable of the code that threads share without a driver.
//!
//! They are those of the standard library. Under `--cfg loom` they are those of [loom](https://docs.rs/loom), which
//! executes a model in every interleaving of its threads, and with every value that a load may read. `tests/models`
//! compiles the files that use this module in that way; the library as a whole is never compiled so.

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::Ordering;
#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use model::{AtomicBool, AtomicU64, AtomicUsize, Condvar};

#[cfg(loom)]
mod model {
    use std::sync::{LockResult, PoisonError};
    use std::time::Duration;

    use loom::sync::atomic;

    use super::{MutexGuard, Ordering};

    /// An atomic of loom. loom 0.7 compares a store with the latest access alone: a load of the storing thread hides an
    /// earlier load of another one, and the other order of the two is not explored. So each access comes after a relaxed
    /// addition to a word of its own, which orders no threads, and whose orders loom explores completely.
    #[derive(Debug)]
    struct Explored<A> {
        accesses: atomic::AtomicUsize,
        value: A,
    }

    impl<A> Explored<A> {
        fn access(&self) -> &A {
            self.accesses.fetch_add(1, Ordering::Relaxed);
            &self.value
        }
    }

    macro_rules! atomics {
        ($($name:ident: $value:ty, $($call:ident),*;)*) => {$(
            #[derive(Debug)]
            pub(crate) struct $name(Explored<atomic::$name>);

            impl $name {
                pub(crate) fn new(value: $value) -> Self {
                    let (accesses, value) = (atomic::AtomicUsize::new(0), atomic::$name::new(value));
                    Self(Explored { accesses, value })
                }

                pub(crate) fn load(&self, order: Ordering) -> $value {
                    self.0.access().load(order)
                }

                pub(crate) fn store(&self, value: $value, order: Ordering) {
                    self.0.access().store(value, order);
                }

                $(pub(crate) fn $call(&self, value: $value, order: Ordering) -> $value {
                    self.0.access().$call(value, order)
                })*
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::new(<$value>::default())
                }
            }
        )*};
    }

    atomics! {
        AtomicBool: bool, swap;
        AtomicU64: u64, swap, fetch_or, fetch_max;
        AtomicUsize: usize, fetch_add, fetch_sub;
    }

    /// A condition variable whose waits have no time limit: a wake-up that is lost is a deadlock, which loom reports.
    #[derive(Debug, Default)]
    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(crate) fn wait_timeout_while<'a, T>(
            &self,
            mut guard: MutexGuard<'a, T>,
            _at_most: Duration,
            mut condition: impl FnMut(&mut T) -> bool,
        ) -> LockResult<(MutexGuard<'a, T>, bool)> {
            while condition(&mut guard) {
                guard = self.0.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
            Ok((guard, false))
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}
