//! Replaces the library's threads that run until the program ends. In a model, they run until the model calls `end`.

use std::io;
use std::sync::Mutex as Plain;
use std::sync::atomic::{AtomicBool, Ordering};

use loom::thread::{self, JoinHandle, Thread};

use crate::explore::plain;

loom::lazy_static! {
    static ref THREADS: Threads = Threads::default();
}

/// The threads that run forever, in one interleaving. Access to this state synchronises no threads of the model.
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

/// Whether the calling thread was started by `spawn_forever`.
pub(crate) fn is_current() -> bool {
    let current = thread::current().id();
    plain(&THREADS.running).iter().any(|handle| handle.thread().id() == current)
}

/// Ends the threads, and is called at the end of a model. An earlier call would hide a bug: its wake-up could replace one
/// that the library has lost.
pub(crate) fn end() {
    THREADS.are_over.store(true, Ordering::Relaxed);
    let running = std::mem::take(&mut *plain(&THREADS.running));
    for handle in running {
        handle.thread().unpark();
        handle.join().unwrap();
    }
}
