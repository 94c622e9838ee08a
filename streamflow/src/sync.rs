//! The atomics, the locks and the thread-local variables of the code that threads share.
//!
//! They are those of the standard library, and of the crates `spin` and `boxcar`. Under `--cfg loom` they are those of
//! [loom](https://docs.rs/loom), which executes a model in every interleaving of its threads, and with every value that a
//! load may read. `tests/models` compiles the files that use this module in that way; the library as a whole is never
//! compiled so.

#[cfg(not(loom))]
pub(crate) use std::hint::spin_loop;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::thread::{sleep, yield_now};
#[cfg(not(loom))]
pub(crate) use std::thread_local;
#[cfg(not(loom))]
pub(crate) use {::boxcar, ::spin};

#[cfg(loom)]
pub(crate) use crate::{boxcar, spin};
#[cfg(loom)]
pub(crate) use local::{Local, LocalKey, thread_local};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::Ordering;
#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use loom::{hint::spin_loop, thread::yield_now};
#[cfg(loom)]
pub(crate) use model::{AtomicBool, AtomicU64, AtomicUsize, Condvar, in_sections, sleep};

#[cfg(loom)]
mod model {
    use std::cell::Cell;
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

    thread_local! {
        /// Of the thread of the operating system, on which all threads of a model run.
        static IN_SECTIONS: Cell<bool> = const { Cell::new(false) };
    }

    /// Calls a model of code behind locks: the orders of its sections are explored, and of its atomics those that loom
    /// finds by itself.
    pub(crate) fn in_sections<R>(model: impl FnOnce() -> R) -> R {
        struct Ends;
        impl Drop for Ends {
            fn drop(&mut self) {
                IN_SECTIONS.set(false);
            }
        }
        IN_SECTIONS.set(true);
        let _ends = Ends;
        model()
    }

    impl<A> Explored<A> {
        fn access(&self) -> &A {
            if !IN_SECTIONS.get() {
                self.accesses.fetch_add(1, Ordering::Relaxed);
            }
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

    impl AtomicBool {
        pub(crate) fn compare_exchange(
            &self,
            current: bool,
            new: bool,
            success: Ordering,
            failure: Ordering,
        ) -> Result<bool, bool> {
            self.0.access().compare_exchange(current, new, success, failure)
        }

        pub(crate) fn compare_exchange_weak(
            &self,
            current: bool,
            new: bool,
            success: Ordering,
            failure: Ordering,
        ) -> Result<bool, bool> {
            self.compare_exchange(current, new, success, failure)
        }
    }

    /// Other threads of the model run.
    pub(crate) fn sleep(_at_least: Duration) {
        loom::thread::yield_now();
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

/// Variables of the threads of a model: loom's threads share those of the standard library.
#[cfg(loom)]
mod local {
    use std::mem::ManuallyDrop;

    use loom::thread;

    pub(crate) struct LocalKey<T: 'static> {
        pub(crate) key: &'static thread::LocalKey<Local<T>>,
        pub(crate) new: fn() -> T,
    }

    /// A value that is leaked when the model has failed: then it is dropped outside of the model.
    pub(crate) struct Local<T>(pub(crate) Option<ManuallyDrop<T>>);

    impl<T> Local<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(Some(ManuallyDrop::new(value)))
        }
    }

    impl<T> Drop for Local<T> {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                self.0.take().map(ManuallyDrop::into_inner);
            }
        }
    }

    impl<T: 'static> LocalKey<T> {
        pub(crate) fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, ()> {
            let found = self.key.try_with(|local| local.0.as_deref().map(f));
            found.ok().flatten().ok_or(())
        }

        /// Where the variable is destroyed, `f` gets a new value: without loom, a variable that needs no destructor is
        /// there until the thread has ended.
        pub(crate) fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
            let mut f = Some(f);
            let found = self.try_with(|value| f.take().map(|f| f(value)));
            match (found.ok().flatten(), f) {
                (Some(result), _) => result,
                (None, Some(f)) => f(&(self.new)()),
                (None, None) => unreachable!("`f` is called once"),
            }
        }
    }

    macro_rules! per_thread {
        ($($(#[$attribute:meta])* static $name:ident: $ty:ty = $value:expr;)*) => {$(
            $(#[$attribute])*
            static $name: $crate::sync::LocalKey<$ty> = {
                fn new() -> $ty {
                    $value
                }
                loom::thread_local! {
                    static KEY: $crate::sync::Local<$ty> = $crate::sync::Local::new(new());
                }
                $crate::sync::LocalKey { key: &KEY, new }
            };
        )*};
    }
    pub(crate) use per_thread as thread_local;
}
