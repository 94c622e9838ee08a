//! The atomics, the locks and the thread-local variables of the code that threads share.
//!
//! The types are those of the standard library, and of the crates `spin` and `boxcar`. Under `--cfg loom` they are
//! those of [loom](https://docs.rs/loom): loom executes a model in every interleaving of its threads, and with every
//! value that a load may read. `tests/models` compiles the files that use this module with `--cfg loom`; the whole
//! library is never compiled with that flag.

#[cfg(not(loom))]
pub use standard::{UnsafeCell, const_fn, spawn_forever, statics};
#[cfg(not(loom))]
pub use std::hint::spin_loop;
#[cfg(not(loom))]
pub use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(not(loom))]
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub use std::thread::{Thread, park, park_timeout, sleep, yield_now};
#[cfg(not(loom))]
pub use std::thread_local;
#[cfg(not(loom))]
pub use {::boxcar, ::spin};

#[cfg(loom)]
pub(crate) use crate::forever::spawn_forever;
#[cfg(loom)]
pub(crate) use crate::{boxcar, spin};
#[cfg(loom)]
pub(crate) use local::{Local, LocalKey, Static, thread_local};
#[cfg(loom)]
pub(crate) use loom::hint::spin_loop;
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use loom::thread::{Thread, park, yield_now};
#[cfg(loom)]
pub(crate) use model::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Condvar, UnsafeCell, const_fn,
    in_sections, park_timeout, sleep, statics,
};

/// Items of the standard library, with the interfaces that loom's items have.
#[cfg(not(loom))]
mod standard {
    use std::io;
    use std::thread::{Builder, Thread};

    /// A value that threads access one after another. The code that owns the cell states the order. loom reports two
    /// accesses that nothing orders, unless both only read.
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        #[inline(always)]
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Returns a pointer to the value, which the caller reads from at once.
        #[inline(always)]
        pub const fn to_read(&self) -> *const T {
            self.0.get()
        }

        /// Returns a pointer to the value, which the caller writes to at once.
        #[inline(always)]
        pub const fn to_write(&self) -> *mut T {
            self.0.get()
        }

        #[inline(always)]
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    /// Starts a thread that calls `round` forever. Under loom the thread ends with the model.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn spawn_forever(
        name: &str,
        mut round: impl FnMut() + Send + 'static,
    ) -> io::Result<Thread> {
        let spawned = Builder::new().name(name.to_owned()).spawn(move || {
            loop {
                round();
            }
        });
        spawned.map(|handle| handle.thread().clone())
    }

    /// Defines static variables. Under loom each interleaving has its own copies of them.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! plain_statics {
        ($($statics:tt)*) => { $($statics)* };
    }
    pub use plain_statics as statics;

    /// Defines a function that is `const`, except under loom: a `const` function can't make loom's atomics.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! plain_const_fn {
        ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
            $(#[$attribute])* $visibility const fn $($rest)*
        };
    }
    pub use plain_const_fn as const_fn;
}

#[cfg(loom)]
mod model {
    use std::cell::Cell;
    use std::sync::{LockResult, PoisonError};
    use std::time::Duration;

    use loom::sync::atomic;

    use super::{MutexGuard, Ordering};

    /// An atomic of loom. loom 0.7 compares a store with the latest access alone: a load of the storing thread hides an
    /// earlier load of another thread, and the other order of the two is not explored. So each access follows a relaxed
    /// addition to a separate word. Such an addition orders no threads, and loom explores all orders of the additions.
    #[derive(Debug)]
    struct Explored<A> {
        accesses: atomic::AtomicUsize,
        value: A,
    }

    thread_local! {
        /// Whether a model runs within [`in_sections`]. The variable belongs to the thread of the operating system: all
        /// threads of a model run on it.
        static IN_SECTIONS: Cell<bool> = const { Cell::new(false) };
    }

    /// Runs a model of code behind locks. loom explores all orders of the model's critical sections, but only those
    /// orders of its atomics that loom finds by itself.
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
        AtomicU8: u8, fetch_and, fetch_or;
        AtomicU64: u64, swap, fetch_add, fetch_sub, fetch_or, fetch_max;
        AtomicUsize: usize, fetch_add, fetch_sub, fetch_or;
    }

    #[derive(Debug)]
    pub(crate) struct AtomicPtr<T>(Explored<atomic::AtomicPtr<T>>);

    impl<T> AtomicPtr<T> {
        pub(crate) fn new(value: *mut T) -> Self {
            let (accesses, value) = (atomic::AtomicUsize::new(0), atomic::AtomicPtr::new(value));
            Self(Explored { accesses, value })
        }

        pub(crate) fn load(&self, order: Ordering) -> *mut T {
            self.0.access().load(order)
        }

        pub(crate) fn swap(&self, value: *mut T, order: Ordering) -> *mut T {
            if std::thread::panicking() {
                // The model has failed, and its values are dropped outside of a running model.
                return value;
            }
            self.0.access().swap(value, order)
        }

        pub(crate) fn compare_exchange_weak(
            &self,
            current: *mut T,
            new: *mut T,
            success: Ordering,
            failure: Ordering,
        ) -> Result<*mut T, *mut T> {
            self.0.access().compare_exchange(current, new, success, failure)
        }
    }

    /// The cell for loom, with the interface of the cell without loom. loom counts each call as an access.
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(loom::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::cell::UnsafeCell::new(value))
        }

        pub(crate) fn to_read(&self) -> *const T {
            self.0.with(|value| value)
        }

        pub(crate) fn to_write(&self) -> *mut T {
            self.0.with_mut(|value| value)
        }

        pub(crate) fn into_inner(self) -> T {
            // loom must see that taking the value accesses it, too.
            self.to_write();
            self.0.into_inner()
        }
    }

    macro_rules! lazy_statics {
        ($($(#[$attribute:meta])* static $name:ident: $ty:ty = $value:expr;)*) => {
            loom::lazy_static! {
                $($(#[$attribute])* static ref $name: $crate::sync::Static<$ty> =
                    $crate::sync::Static::new($value);)*
            }
        };
    }
    pub(crate) use lazy_statics as statics;

    macro_rules! plain_fn {
        ($($function:tt)*) => { $($function)* };
    }
    pub(crate) use plain_fn as const_fn;

    /// Lets other threads of the model run instead of parking: there is no time in a model.
    pub(crate) fn park_timeout(_at_most: Duration) {
        loom::thread::yield_now();
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

    impl AtomicU64 {
        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            self.0.access().compare_exchange(current, new, success, failure)
        }
    }

    /// Lets other threads of the model run instead of sleeping: there is no time in a model.
    pub(crate) fn sleep(_at_least: Duration) {
        loom::thread::yield_now();
    }

    /// A condition variable with waits that have no time limit: a lost wake-up is a deadlock, and loom reports it.
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

/// Thread-local variables of a model: loom's threads would share a thread-local variable of the standard library.
#[cfg(loom)]
mod local {
    use std::mem::ManuallyDrop;
    use std::ops::Deref;

    use loom::thread;

    /// A static variable, leaked like a [`Local`] when the model has failed.
    pub(crate) type Static<T> = Local<T>;

    impl<T> Deref for Static<T> {
        type Target = T;

        fn deref(&self) -> &T {
            match &self.0 {
                Some(value) => value,
                None => unreachable!("its `Drop` takes it"),
            }
        }
    }

    pub(crate) struct LocalKey<T: 'static> {
        pub(crate) key: &'static thread::LocalKey<Local<T>>,
        pub(crate) new: fn() -> T,
    }

    /// A value that is leaked when the model has failed, because it would be dropped outside of the model.
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

        /// Calls `f` with the variable, or with a new value after the variable was destroyed: without loom, a variable that
        /// needs no destructor exists until the thread has ended.
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
