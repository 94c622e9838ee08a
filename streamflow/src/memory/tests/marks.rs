//! Tests of marks of memory that is not written, mostly with two threads that use parts of one block. The integration test
//! `graph_failures` tests the rules of marks by the data that a graph computes.

use std::sync::Barrier;

use super::*;
use crate::Error;
use crate::driver::{AccessMode, Asker};
use crate::memory::access::{self, Order, Use};
use crate::memory::hook_has_failed;

const ROUNDS: usize = 5_000;

/// The number of calls that a thread makes in a round.
const CALLS: usize = 20;

fn error() -> Error {
    Error::Panicked { message: "INJECTED".into() }
}

/// Calls `first` and `second` at the same time, on two threads and each in a hook, in many rounds. After each round
/// `is_right` must return `true`.
fn race(
    block: &Block,
    first: impl Fn(&Block) + Sync,
    second: impl Fn(&Block) + Sync,
    is_right: impl Fn(&Block) -> bool,
) {
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            Asker::named("second").enter();
            for _ in 0..ROUNDS {
                barrier.wait();
                second(block);
                barrier.wait();
            }
        });
        Asker::named("first").enter();
        // The loop makes all rounds, even after a wrong one, because the other thread waits for this thread in each round.
        let wrong = (0..ROUNDS).filter(|_| {
            barrier.wait();
            first(block);
            barrier.wait();
            !is_right(block)
        });
        assert_eq!(wrong.count(), 0);
    });
}

/// One thread marks memory repeatedly. Another thread checks the memory meanwhile, and finds a mark each time.
#[test]
fn marked_memory_stays_marked_while_it_is_marked_again() {
    let bench = bench(MemoryOptions::default());
    let (stream, _) = bench.stream();
    let buffer = bench.buffer(&stream);
    let (block, range) = (buffer.block(), buffer.range());
    let missed = AtomicUsize::new(0);
    let mark = |block: &Block| (0..CALLS).for_each(|_| block.fail(range, &error()));
    let look = |block: &Block| {
        let is_free = block.check_written(range).is_ok();
        missed.fetch_add(usize::from(is_free), Ordering::Relaxed);
    };
    Asker::named("first").enter();
    block.fail(range, &error());
    race(block, mark, look, |_| true);
    assert_eq!(missed.into_inner(), 0);
}

/// One thread overwrites the left half of a block while a call of another thread fails to write the right half. Afterwards
/// the right half is marked.
#[test]
fn a_mark_that_ends_takes_no_later_one_with_it() {
    let bench = bench(MemoryOptions::default());
    let (stream, _) = bench.stream();
    let buffer = bench.buffer(&stream);
    let (block, range) = (buffer.block(), buffer.range());
    let bytes = range.bytes / 2;
    let left = MemoryRange { address: range.address, bytes };
    let right = MemoryRange { address: range.address + bytes, bytes };
    Asker::named("first").enter();
    block.fail(left, &error());
    let is_right = |block: &Block| {
        block.overwritten(left);
        let is_marked = block.check_written(range).is_err();
        // The next round begins with only the left half marked.
        block.overwritten(range);
        let has_ended = block.check_written(range).is_ok();
        block.fail(left, &error());
        is_marked && has_ended
    };
    let overwrite = |block: &Block| {
        for _ in 0..CALLS {
            block.overwritten(left);
            block.fail(left, &error());
        }
    };
    race(block, overwrite, |block| block.fail(right, &error()), is_right);
}

/// A call that may read the memory that it writes is refused if a failed call was to write that memory. A call that
/// overwrites the memory is not refused, and neither is a call of a library's plan, because most memory that it writes is
/// the plan's own.
#[test]
fn work_that_may_read_memory_that_is_not_written_is_refused() {
    let bench = bench(MemoryOptions::default());
    let (stream, _) = bench.stream();
    let buffer = bench.buffer(&stream);
    let memory = (buffer.block(), buffer.range());
    Asker::named("first").enter();
    memory.0.fail(memory.1, &error());
    for (used, is_refused) in [
        (Use::new(memory, AccessMode::Read, "it"), true),
        (Use::new(memory, AccessMode::Write, "it"), true),
        (Use::overwriting(memory, "it"), false),
        (Use::new(memory, AccessMode::Write, "it").unmarked(), false),
    ] {
        let queued = access::queue(&stream, Order::ByData, [used].into_iter(), || Ok(()));
        let is_unwritten = matches!(queued, Err(Error::Unwritten { .. }));
        assert_eq!((queued.is_err(), is_unwritten), (is_refused, is_refused), "{used:?}");
    }
}

/// A later hook calls a function of a library that overwrites marked memory. The call fails, and the hook returns the
/// call's error. The memory has not been written even then, so the mark stays, with the first error.
#[test]
fn a_call_that_overwrites_memory_ends_a_mark_by_its_success_alone() {
    let bench = bench(MemoryOptions::default());
    let (stream, _) = bench.stream();
    let buffer = bench.buffer(&stream);
    let (block, range) = (buffer.block(), buffer.range());
    let half = MemoryRange { bytes: range.bytes / 2, ..range };
    Asker::named("first").enter();
    block.fail(range, &error());
    Asker::named("second").enter();
    block.begin_overwrite(range);
    assert!(block.check_written(range).is_ok());
    block.fail(range, &error());
    hook_has_failed();
    let told = block.check_written(range);
    assert!(matches!(told, Err(Error::Unwritten { node, .. }) if node == "first"));
    // This call overwrites only half of the marked memory, so the mark stays.
    block.begin_overwrite(half);
    block.end_overwrite(half);
    assert!(block.check_written(range).is_err());
    // A call that overwrites half of the memory ends no mark of the whole memory, even while another call overwrites it.
    block.begin_overwrite(range);
    block.end_overwrite(half);
    block.fail(range, &error());
    let told = block.check_written(range);
    assert!(matches!(told, Err(Error::Unwritten { node, .. }) if node == "first"));
    block.begin_overwrite(range);
    block.end_overwrite(range);
    assert!(block.check_written(range).is_ok());
    // A call that fails after the mark has ended makes a new mark, which ends when its own hook returns an error.
    Asker::named("third").enter();
    block.fail(range, &error());
    hook_has_failed();
    assert!(block.check_written(range).is_ok());
}
