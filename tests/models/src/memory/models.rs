//! Models of the uses that a block of memory records (invariants 2 to 7 and 13 of `streamflow/src/memory/README.md`).

use std::sync::{Arc, Mutex as Plain};

use loom::thread;

use super::claims::Claims;
use crate::driver::AccessMode::{self, Read, Write};
use crate::explore::explore;
use crate::lock::Lock;
use crate::stream::{On, World};

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
/// The index of a stream that shares its entry in each clock with the stream `B`.
const D: usize = 3;

/// The elements that an access touches. In a program, Rust's borrows keep two threads from making conflicting accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Left,
    Right,
    All,
}
use Part::{All, Left, Right};

/// A block of memory, and the world with the four streams that use it.
struct Memory {
    world: World,
    claims: Claims,
    /// All accesses made so far. The mutex is the standard library's, since such a mutex synchronises no threads of the
    /// model.
    accesses: Plain<Vec<(Part, AccessMode, usize, u64)>>,
}

impl Memory {
    /// A block that was allocated on a stream.
    fn allocated_on(stream: usize) -> Self {
        let world = World::new();
        let mut claims = Claims::new();
        claims.allocated_on(&On(&world, stream));
        let before = world.queue(stream);
        Self { world, claims, accesses: Plain::new(vec![(All, Write, stream, before[stream])]) }
    }

    /// Makes an access as `memory::access::queue` does: orders the stream, queues the work and notes the use.
    fn access(&self, stream: usize, part: Part, mode: AccessMode) {
        let (world, on) = (&self.world, On(&self.world, stream));
        self.claims.order(&on, mode, |point| world.wait(stream, point)).unwrap();
        let before = world.queue(stream);
        {
            let mut accesses = self.accesses.lock().unwrap();
            for (other, other_mode, of, work) in accesses.iter() {
                let overlaps = part == All || *other == All || part == *other;
                if overlaps && (mode == Write || *other_mode == Write) {
                    assert!(before[*of] >= *work, "an access does not come after another one");
                }
            }
            accesses.push((part, mode, stream, before[stream]));
        }
        world.take(stream, before[stream]);
        self.claims.note(&on, mode);
    }

    fn uses(&self) -> usize {
        self.claims.conflicting(Write).len()
    }
}

/// Makes the streams of both threads wait for the first write. This leaves fewer interleavings for loom to explore.
fn come_after_the_first_write(memory: &Memory) {
    let write = memory.claims.conflicting(Write)[0];
    [B, C].iter().for_each(|stream| memory.world.wait(*stream, write).unwrap());
}

/// Runs `one` and `two` on two threads, on a block that `begin` has prepared. Then runs `end` on the first thread.
fn meet(begin: fn(&Memory), one: fn(&Memory), two: fn(&Memory), end: fn(&Memory)) {
    explore(move || {
        let memory = Arc::new(Memory::allocated_on(A));
        begin(&memory);
        let other = memory.clone();
        let thread = thread::spawn(move || two(&other));
        one(&memory);
        thread.join().unwrap();
        end(&memory);
        memory.world.check();
    });
}

/// Two threads read on two streams; then a write follows on the stream of the only write. Such a write takes no lock if
/// there are no reads.
#[test]
pub(crate) fn two_reads_and_a_write() {
    meet(
        come_after_the_first_write,
        |memory| memory.access(B, All, Read),
        |memory| memory.access(C, All, Read),
        |memory| memory.access(A, All, Write),
    );
}

/// Two threads write two parts of a block on two streams. Then a read covers both parts.
#[test]
pub(crate) fn two_writes_of_parts_and_a_read() {
    meet(
        |_| (),
        |memory| memory.access(A, Left, Write),
        |memory| memory.access(B, Right, Write),
        |memory| memory.access(C, All, Read),
    );
}

/// A thread reads a part while another thread writes the other part. Then a write covers both parts.
#[test]
pub(crate) fn a_read_and_a_write_of_parts() {
    meet(
        come_after_the_first_write,
        |memory| memory.access(B, Left, Read),
        |memory| memory.access(C, Right, Write),
        |memory| memory.access(D, All, Write),
    );
}

/// One part was read on a stream, and another stream writes the other part. Meanwhile a thread records the writing
/// stream, and only after that makes it wait for the read. So the record does not cover the read.
#[test]
pub(crate) fn a_stream_that_comes_after_a_use_too_late() {
    explore(|| {
        let memory = Arc::new(Memory::allocated_on(A));
        memory.access(C, Left, Read);
        let read = *memory.claims.conflicting(Write).first().unwrap();
        // The stream `B`, which writes next, has waited for the first write and not for the read.
        memory.access(B, Right, Read);
        let other = memory.clone();
        let thread = thread::spawn(move || {
            other.world.record(B).unwrap();
            other.world.wait(B, read).unwrap();
        });
        let (world, on) = (&memory.world, On(&memory.world, B));
        let before = world.queue(B);
        memory.accesses.lock().unwrap().push((Right, Write, B, before[B]));
        world.take(B, before[B]);
        memory.claims.note(&on, Write);
        thread.join().unwrap();
        memory.access(D, Left, Write);
    });
}

/// Reads use more streams than a clock has entries. A write must come after all of these reads.
#[test]
pub(crate) fn a_write_after_many_reads() {
    meet(
        |memory| {
            come_after_the_first_write(memory);
            memory.access(D, All, Read);
        },
        |memory| memory.access(B, All, Read),
        |memory| memory.access(C, All, Read),
        |memory| {
            memory.access(A, All, Write);
            assert_eq!(memory.uses(), 1, "a use is kept that the write came after");
        },
    );
}

/// A block returns to a free list, and another thread takes it for its own stream. The first thread queues more work on its
/// stream, and the new owner does not wait for that work.
#[test]
pub(crate) fn a_block_with_a_new_owner() {
    explore(|| {
        let world = Arc::new(World::new());
        let mut claims = Claims::new();
        claims.allocated_on(&On(&world, A));
        let free = Arc::new(Lock::new(None));
        let (other, list) = (world.clone(), free.clone());
        let first = thread::spawn(move || {
            let before = other.queue(B);
            let point = other.take(B, before[B]);
            claims.note(&On(&other, B), Read);
            // Closes the uses as `Block::close_uses` does for the stream on which the block was allocated.
            let close = |point: crate::stream::Point| match point.stream() as usize {
                A => Ok(()),
                stream => other.close(stream),
            };
            claims.try_for_each(close).unwrap();
            *list.lock() = Some(claims);
            (point, other.queue(B)[B])
        });
        // Takes the block as `MemoryPool::hand_over` does when the block is already in the free list.
        let taken = free.lock().take();
        let owned = taken.map(|mut claims: Claims| {
            let on = On(&world, D);
            claims.try_for_each(|point| world.wait(D, point)).unwrap();
            claims.allocated_on(&on);
            let before = world.queue(D);
            let of_c = On(&world, C);
            claims.order(&of_c, Write, |point| world.wait(C, point)).unwrap();
            (before, world.queue(C))
        });
        let (point, later) = first.join().unwrap();
        if let Some((before, of_next)) = owned {
            assert!(before[B] >= 1, "a new owner does not come after an earlier use");
            assert!(of_next[B] >= 1, "an access does not come after another one");
            assert!(before[B] < later, "a new owner waits for later work");
        }
        let _ = point;
        world.check();
    });
}
