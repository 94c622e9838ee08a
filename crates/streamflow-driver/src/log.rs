//! The log lines of a thread, written only while the thread holds no lock of this library.
//!
//! A subscriber of `tracing` is the user's code, as is the text of an error: it may call the library, or wait for another
//! thread that does. A thread that holds a lock, or makes a value that other threads wait for, writes its lines after it has
//! released the lock or made the value.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use crate::caught::caught;

type Line = Box<dyn FnOnce()>;

thread_local! {
    /// The number of [`Later`]s that this thread has.
    static LATER: Cell<u32> = const { Cell::new(0) };
    /// Whether this thread has lines that are not written yet.
    static HAS_LINES: Cell<bool> = const { Cell::new(false) };
    /// The lines of this thread that are not written yet. The list is empty while the thread has no `Later`, so it
    /// needs no destructor: a thread that ends may have dropped its thread-locals.
    static LINES: Cell<ManuallyDrop<Vec<Line>>> = const { Cell::new(ManuallyDrop::new(Vec::new())) };
}

/// A guard that postpones the calling thread's log lines until it is dropped. The guard is made before a lock is taken,
/// and dropped after the lock is released.
#[must_use]
#[derive(Debug)]
pub struct Later(PhantomData<*const ()>);

/// Returns a [`Later`] of the calling thread.
#[inline]
pub fn later() -> Later {
    LATER.set(LATER.get() + 1);
    Later(PhantomData)
}

/// Writes a line by calling `line`, a call of a macro of `tracing`: at once, or after the thread's last [`Later`] was
/// dropped.
#[cold]
#[inline(never)]
pub fn write(line: impl FnOnce() + 'static) {
    if LATER.get() == 0 {
        return line();
    }
    let mut lines = take();
    lines.push(Box::new(line));
    LINES.set(ManuallyDrop::new(lines));
    HAS_LINES.set(true);
}

/// Takes the thread's lines that are not written yet.
fn take() -> Vec<Line> {
    let lines = LINES.try_with(|lines| lines.replace(ManuallyDrop::new(Vec::new())));
    lines.map(ManuallyDrop::into_inner).unwrap_or_default()
}

impl Drop for Later {
    #[inline]
    fn drop(&mut self) {
        let left = LATER.get() - 1;
        LATER.set(left);
        if left == 0 && HAS_LINES.get() {
            write_all();
        }
    }
}

#[cold]
#[inline(never)]
fn write_all() {
    HAS_LINES.set(false);
    for line in take() {
        // `line` runs in a drop. If a subscriber panics, the other lines are still written; the panic hook has already
        // printed the panic.
        let _panicked = caught(line);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn lines_wait_for_the_last_guard_and_keep_their_order() {
        let written = Rc::new(RefCell::new(Vec::new()));
        let line = |number: u32| {
            let to = written.clone();
            write(move || to.borrow_mut().push(number));
        };
        line(1);
        assert_eq!(*written.borrow(), [1]);
        let outer = later();
        line(2);
        let inner = later();
        line(3);
        write(|| std::panic::resume_unwind(Box::new(())));
        line(4);
        drop(inner);
        assert_eq!(*written.borrow(), [1]);
        drop(outer);
        assert_eq!(*written.borrow(), [1, 2, 3, 4]);
        line(5);
        assert_eq!(written.borrow().last(), Some(&5));
        // Each line's closure is dropped after it was called.
        assert_eq!(Rc::strong_count(&written), 1);
    }
}
