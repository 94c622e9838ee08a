//! Bodies that run.

mod failing;
mod page_locked;
mod put_off;
mod waiting;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use super::*;
use crate::driver::{BodyError, LibraryBody, LibraryCall, RawStream};

type Run = Box<dyn Fn() -> Result<(), BodyError> + Send + Sync>;

/// Queues a call of a library with a closure as its body.
fn call(
    bench: &Bench,
    stream: RawStream,
    accesses: &[(MemoryRange, AccessMode)],
    run: Run,
) -> DriverResult<()> {
    // SAFETY: in these tests the closure touches the memory of the accesses alone.
    let host = unsafe { LibraryBody::new("testCall", move |_| run()) };
    let access = |&(range, mode)| Access { range, mode, argument: "it", rows: None };
    let call = LibraryCall {
        function: "testCall",
        params: &[],
        accesses: &accesses.iter().map(access).collect::<Vec<_>>(),
        rows: &[],
        is_captured: true,
        host: &host,
        device: &|_| Ok(()),
    };
    unsafe { bench.driver.libraries().call_library(stream, &call) }
}

/// Returns a body that signals when it runs, and ends after a message.
fn gated() -> (Run, Receiver<()>, SyncSender<()>) {
    let (entered, has_entered) = sync_channel(1);
    let (open, opened) = sync_channel::<()>(1);
    let opened = Mutex::new(opened);
    let run = move || {
        entered.send(())?;
        opened.lock().unwrap().recv()?;
        Ok(())
    };
    (Box::new(run), has_entered, open)
}

fn write(range: MemoryRange, value: u32) {
    unsafe { words(range.address) }.fill(value);
}

/// Returns a body that runs `first`, and then stores the first number of `data`.
fn then_store(first: Run, data: MemoryRange, stored: &Arc<AtomicU32>) -> Run {
    let stored = stored.clone();
    Box::new(move || {
        first()?;
        stored.store(unsafe { words(data.address) }[0], Ordering::Relaxed);
        Ok(())
    })
}

/// Queues, on another thread, the body that `make` makes around a pause; that thread waits for the body. In the pause, this
/// thread calls `meanwhile` with the sender that ends the pause.
fn while_a_body_runs(
    bench: &Bench,
    stream: RawStream,
    access: (MemoryRange, AccessMode),
    make: impl FnOnce(Run) -> Run,
    meanwhile: impl FnOnce(SyncSender<()>),
) {
    let (pause, has_entered, open) = gated();
    let body = make(pause);
    std::thread::scope(|scope| {
        // The sender is dropped before the body is waited for, also if the test fails.
        let open = open;
        scope.spawn(move || {
            bench.driver.bind(DEVICE).unwrap();
            call(bench, stream, &[access], body).unwrap();
            bench.wait(stream);
        });
        has_entered.recv().unwrap();
        meanwhile(open);
    });
}
