//! Replaces the lock of the library's hot path by loom's mutex: one thread holds it, and sees what earlier holders wrote.
//! The library's own lock is a spin lock of the crate `spin`, which promises the same.

use std::any::type_name;
use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;

use crate::sync::{Mutex, MutexGuard};

loom::thread_local! {
    /// The names of the types whose locks the thread holds.
    static HELD: RefCell<Vec<&'static str>> = RefCell::default();
    /// Whether the thread is in a deleter, where it may take no lock.
    static IN_DELETER: Cell<bool> = Cell::default();
}

#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Mutex<T>);

pub(crate) struct Held<'a, T>(MutexGuard<'a, T>);

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> Held<'_, T> {
        may_lock();
        let held = Held(self.0.lock().unwrap_or_else(PoisonError::into_inner));
        HELD.with(|types| types.borrow_mut().push(type_name::<T>()));
        held
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks a mutex for a long section. Unlike a [`Lock`], such a mutex may be held during driver calls.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    may_lock();
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stands for the library's guard around driver calls. This guard does nothing, since the models' drivers execute no user
/// code.
pub(crate) struct Hold;

pub(crate) fn hold() -> Hold {
    Hold
}

fn may_lock() {
    let is_failing = std::thread::panicking();
    assert!(is_failing || !IN_DELETER.with(Cell::get), "a deleter takes a lock");
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        // The guard may be dropped while its thread unwinds. `try_with` does nothing if the thread-local value is gone by
        // then.
        let _ = HELD.try_with(|types| {
            let mut types = types.borrow_mut();
            let last = types.iter().rposition(|it| *it == type_name::<T>());
            last.map(|index| types.remove(index))
        });
    }
}

/// Whether the calling thread holds the lock of a value whose type name contains `name`.
pub(crate) fn holds_one_of(name: &str) -> bool {
    HELD.with(|types| types.borrow().iter().any(|it| it.contains(name)))
}

/// Calls a function that must take no lock. A lock inside of it makes the model fail.
pub(crate) fn without_locks<R>(call: impl FnOnce() -> R) -> R {
    IN_DELETER.with(|is_in| is_in.set(true));
    let result = call();
    IN_DELETER.with(|is_in| is_in.set(false));
    result
}
