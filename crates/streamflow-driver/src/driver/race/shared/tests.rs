//! Tests of the journal and its owner.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, mpsc};
use std::thread;

use super::*;
use crate::driver::{AccessMode, DeviceId, MemoryRange};

#[test]
fn the_owner_clears_a_full_journal_that_others_have_read() {
    let shared = Shared::new(Box::default());
    let stream = RawStream::new(DeviceId(0), 1);
    let event = RawEvent::new(DeviceId(0), 2);
    // SAFETY: no other thread notes anything.
    let noted = || unsafe { shared.journal.after(0) }.lines.len();
    let record = || shared.end_event(shared.begin_event(EventOp::Record, stream, event), true);
    record();
    for round in 0..3 {
        for lines in 1..=usize::from(LINES) {
            record();
            assert_eq!(noted(), lines, "round {round}");
        }
        let read = thread::scope(|scope| scope.spawn(|| shared.lock().guard.read).join());
        assert_eq!(read.ok(), Some(LINES.into()));
        record();
        assert_eq!(noted(), 0, "the lock was taken, and all was read");
    }
}

/// Another thread reads the journal. Then the owner notes a last call and ends, before the other thread reads the journal
/// again.
#[test]
fn last_calls_of_an_ended_owner_are_not_attributed_to_its_successor() {
    let shared = Arc::new(Shared::new(Box::default()));
    let (begun, has_begun) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let owner = thread::spawn({
        let shared = shared.clone();
        move || {
            let [a, b] = [1, 2].map(|handle| RawStream::new(DeviceId(0), handle));
            let range = MemoryRange { address: 4096, bytes: 512 };
            let access = Access { range, mode: AccessMode::Write, argument: "", rows: None };
            {
                let mut locked = shared.lock();
                let thread = locked.thread;
                locked.state().allocate(thread, a, range, None);
            }
            shared.work(a, Action::Fill, 0, (&[access], &[]));
            {
                // The owner finds its work complete.
                let mut locked = shared.lock();
                let thread = locked.thread;
                let order = &mut locked.state().order;
                let stream = order.stream(a);
                let query = order.begin_stream_query(thread, stream);
                order.finish(query);
            }
            begun.send(()).unwrap();
            may_go_on.recv().unwrap();
            shared.work(b, Action::Fill, 0, (&[access], &[]));
        }
    });
    has_begun.recv().unwrap();
    let mut guard = shared.state.lock();
    shared.drain(&mut guard);
    go_on.send(()).unwrap();
    owner.join().unwrap();
    shared.register_thread(&mut guard);
    drop(guard);
    let races = shared.take();
    assert!(races.is_empty(), "{races}");
}
