//! Tests of bodies that are running while other calls are made.

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

/// Queues a call of a library's function, with the closure `run` as its body.
fn call(
    bench: &Bench,
    stream: RawStream,
    accesses: &[(MemoryRange, AccessMode)],
    run: Run,
) -> DriverResult<()> {
    // SAFETY: in these tests the closure touches only the memory in `accesses`.
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

/// Returns a body that sends a message when it begins, and ends when it gets a message.
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

/// Returns a body that runs `first`, and then stores the first word of `data` in `stored`.
fn then_store(first: Run, data: MemoryRange, stored: &Arc<AtomicU32>) -> Run {
    let stored = stored.clone();
    Box::new(move || {
        first()?;
        stored.store(unsafe { words(data.address) }[0], Ordering::Relaxed);
        Ok(())
    })
}

/// A helper thread queues the body that `make` builds around a pause, and waits for the body. During the pause, the calling
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
        // `open` is dropped before the scope waits for the thread, even if the test fails. Otherwise the body would never
        // end.
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
