//! Threads of the library that run until the program ends: in a model, until the model says so.

use std::io;
use std::sync::Mutex as Plain;
use std::sync::atomic::{AtomicBool, Ordering};

use loom::thread::{self, JoinHandle, Thread};

use crate::explore::plain;

loom::lazy_static! {
    static ref THREADS: Threads = Threads::default();
}

/// The state of these threads in one interleaving. Its accesses order no threads.
#[derive(Default)]
struct Threads {
    are_over: AtomicBool,
    running: Plain<Vec<JoinHandle<()>>>,
}

pub(crate) fn spawn_forever(
    _name: &str,
    mut round: impl FnMut() + Send + 'static,
) -> io::Result<Thread> {
    let handle = thread::spawn(move || {
        while !THREADS.are_over.load(Ordering::Relaxed) {
            round();
        }
    });
    let thread = handle.thread().clone();
    plain(&THREADS.running).push(handle);
    Ok(thread)
}

/// Whether the calling thread is one that runs until the program ends.
pub(crate) fn is_current() -> bool {
    let current = thread::current().id();
    plain(&THREADS.running).iter().any(|handle| handle.thread().id() == current)
}

/// Ends the threads, at the end of a model. Earlier, the wake-up here would hide a wake-up that the library has lost.
pub(crate) fn end() {
    THREADS.are_over.store(true, Ordering::Relaxed);
    let running = std::mem::take(&mut *plain(&THREADS.running));
    for handle in running {
        handle.thread().unpark();
        handle.join().unwrap();
    }
}
