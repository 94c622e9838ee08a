//! Models of memory pools, of page-locked memory and of work that uses memory (invariants 1, 8 to 12 and 14 of
//! `streamflow/src/memory/README.md`).

use std::sync::Arc;

use loom::thread;

use super::Shape;
use super::{Buffer, MemoryLimits, MemoryOptions, MemoryPool, Pinned, PinnedPool, PoolHandle};
use crate::driver::DeviceId;
use crate::driver::device::Device;
use crate::explore::{explore_sections, explore_watched_or_not};
use crate::stream::{CudaStream, StreamTable};

const DEVICE: DeviceId = DeviceId(0);
/// The size of a block in bytes.
const BYTES: usize = 512;

/// A device, two streams, a pool of device memory and a pool of page-locked host memory.
struct Memory {
    device: Arc<Device>,
    a: CudaStream,
    b: CudaStream,
    pool: PoolHandle<MemoryPool>,
    pinned: PoolHandle<PinnedPool>,
}

impl Memory {
    fn new(watches: bool, limits: MemoryLimits, options: MemoryOptions) -> Self {
        let device = Device::new(watches);
        let table = StreamTable::new(device.clone()).unwrap();
        let [a, b] = [(); 2].map(|()| CudaStream::new(&table));
        device.set_of_users([a.raw(), b.raw()]);
        let pool = MemoryPool::limited(&table, DEVICE, options, "pool", limits).unwrap();
        let pinned = PinnedPool::new(&table, DEVICE, options);
        pinned.pool().publish();
        Self { device, a, b, pool, pinned }
    }

    /// Allocates a buffer as long as `blocks` blocks.
    fn buffer(&self, stream: &CudaStream, blocks: usize) -> Buffer<u8> {
        Buffer::new(&self.pool, stream, &Shape::new(&[blocks * BYTES]).unwrap()).unwrap()
    }
}

/// Returns pool options that allow one free block in flight, that is, one that the device may still use.
fn one_in_flight() -> MemoryOptions {
    MemoryOptions { in_flight: 1, small_in_flight: 1, ..MemoryOptions::default() }
}

/// Returns a model of two threads. `begin` makes the value of each thread, and `end` gets the result of the first thread.
fn meeting<T: 'static, U: Send + 'static, R: 'static>(
    (limits, options): (MemoryLimits, MemoryOptions),
    begin: fn(&Memory) -> (T, U),
    one: fn(&Memory, T) -> R,
    two: fn(&Memory, U),
    end: fn(&Memory, R),
) -> impl Fn(bool) + Clone + Send + Sync + 'static {
    move |watches| {
        let memory = Arc::new(Memory::new(watches, limits, options));
        let (for_one, for_two) = begin(&memory);
        let other = memory.clone();
        let thread = thread::spawn(move || two(&other, for_two));
        let result = one(&memory, for_one);
        thread.join().unwrap();
        end(&memory, result);
        memory.device.check();
    }
}

/// Explores a [`meeting`].
fn meet<T: 'static, U: Send + 'static, R: 'static>(
    sizes: (MemoryLimits, MemoryOptions),
    begin: fn(&Memory) -> (T, U),
    one: fn(&Memory, T) -> R,
    two: fn(&Memory, U),
    end: fn(&Memory, R),
) {
    explore_watched_or_not(meeting(sizes, begin, one, two, end));
}

/// Work uses memory on stream `b` while another thread records that stream. Then work on stream `a` uses the memory.
#[test]
pub(crate) fn a_use_during_a_record() {
    meet(
        (MemoryLimits::unbounded(), one_in_flight()),
        |memory| (memory.buffer(&memory.a, 1), ()),
        |memory, mut buffer| {
            memory.b.fill_bytes(&mut buffer, 1).unwrap();
            buffer
        },
        |memory, ()| {
            memory.b.record().unwrap();
        },
        |memory, mut buffer| memory.a.fill_bytes(&mut buffer, 2).unwrap(),
    );
}

/// A thread drops memory that a stream still uses, while another thread records that stream. The pool keeps no free
/// memory.
#[test]
pub(crate) fn memory_that_is_not_kept() {
    let options = MemoryOptions { release_threshold: 0, ..one_in_flight() };
    meet(
        (MemoryLimits::unbounded(), options),
        |memory| (memory.buffer(&memory.a, 1), ()),
        |memory, mut buffer| memory.b.fill_bytes(&mut buffer, 1).unwrap(),
        |memory, ()| {
            memory.b.record().unwrap();
        },
        |memory, ()| assert_eq!(memory.device.allocated(), (0, 0), "memory is kept"),
    );
}

/// A new block needs the memory of two free blocks. Meanwhile another thread records the stream of the new block.
#[test]
pub(crate) fn a_block_in_the_room_of_others() {
    meet(
        (MemoryLimits::stream_ordered().max_size(2 * BYTES as u64), one_in_flight()),
        |memory| {
            memory.device.set_capacity(2 * BYTES as u64);
            let both = [memory.buffer(&memory.a, 1), memory.buffer(&memory.a, 1)];
            drop(both);
            ((), ())
        },
        |memory, ()| {
            let mut both = memory.buffer(&memory.b, 2);
            memory.b.fill_bytes(&mut both, 1).unwrap();
        },
        |memory, ()| {
            memory.b.record().unwrap();
        },
        |_, ()| (),
    );
}

/// Two threads each allocate a block from the memory of one free block. Both blocks must come after the free.
#[test]
pub(crate) fn two_blocks_in_the_room_of_another() {
    let model = meeting(
        (MemoryLimits::stream_ordered().max_size(2 * BYTES as u64), one_in_flight()),
        |memory| {
            memory.device.set_capacity(2 * BYTES as u64);
            drop(memory.buffer(&memory.a, 2));
            ((), ())
        },
        |memory, ()| memory.buffer(&memory.a, 1),
        |memory, ()| std::mem::forget(memory.buffer(&memory.b, 1)),
        |_, buffer| drop(buffer),
    );
    // Explores only the driver that accepts notes: the model has very many interleavings, and each of them leaks a block.
    explore_sections(move || model(true));
}

/// Two threads each drop a block that a stream still uses. One of them then allocates another block and drops it.
#[test]
pub(crate) fn blocks_in_flight() {
    meet(
        (MemoryLimits::unbounded(), one_in_flight()),
        |memory| {
            let used = || {
                let mut buffer = memory.buffer(&memory.a, 1);
                memory.b.fill_bytes(&mut buffer, 1).unwrap();
                buffer
            };
            (used(), used())
        },
        |memory, used| {
            drop(used);
            drop(memory.buffer(&memory.a, 1));
        },
        |_, used| drop(used),
        |memory, ()| {
            let both = [memory.buffer(&memory.a, 1), memory.buffer(&memory.a, 1)];
            let (blocks, _) = memory.device.allocated();
            assert!(blocks <= 2, "more blocks than are in use at a time, or in flight");
            drop(both);
        },
    );
}

/// A thread drops a block that a second stream uses, while another thread records that stream. The next owner of the block
/// then has work that comes after this use.
#[test]
pub(crate) fn a_block_that_another_stream_has_used() {
    meet(
        (MemoryLimits::unbounded(), one_in_flight()),
        |memory| {
            let mut buffer = memory.buffer(&memory.a, 1);
            memory.b.fill_bytes(&mut buffer, 1).unwrap();
            (buffer, ())
        },
        |_, used| drop(used),
        |memory, ()| {
            memory.b.record().unwrap();
        },
        |memory, ()| {
            let mut buffer = memory.buffer(&memory.a, 1);
            memory.a.fill_bytes(&mut buffer, 2).unwrap();
        },
    );
}

/// Two threads drop a block each. The pool may keep only one of the two as free memory.
#[test]
pub(crate) fn free_memory_up_to_the_threshold() {
    let options = MemoryOptions { release_threshold: BYTES as u64, ..one_in_flight() };
    meet(
        (MemoryLimits::unbounded(), options),
        |memory| (memory.buffer(&memory.a, 1), memory.buffer(&memory.b, 1)),
        |_, buffer| drop(buffer),
        |_, buffer| drop(buffer),
        |memory, ()| {
            let expected = (1, BYTES as u64);
            assert_eq!(
                memory.device.allocated(),
                expected,
                "not the free memory up to the threshold"
            );
        },
    );
}

/// A thread uploads from page-locked memory and drops that memory before the copy is done. Another thread allocates
/// page-locked memory for the host.
#[test]
pub(crate) fn page_locked_memory_for_the_host() {
    meet(
        (MemoryLimits::unbounded(), one_in_flight()),
        |memory| {
            memory.device.set_busy(true);
            let pinned = Pinned::<u8>::for_host(&memory.pinned, BYTES).unwrap();
            ((pinned, memory.buffer(&memory.a, 1)), ())
        },
        |memory, (pinned, mut target)| memory.a.upload(&pinned, &mut target).unwrap(),
        |memory, ()| drop(Pinned::<u8>::for_host(&memory.pinned, BYTES).unwrap()),
        |_, ()| (),
    );
}

/// The host writes page-locked memory again while a copy reads it.
#[test]
pub(crate) fn page_locked_memory_that_is_written_again() {
    meet(
        (MemoryLimits::unbounded(), one_in_flight()),
        |memory| {
            let pinned = Pinned::<u8>::for_host(&memory.pinned, BYTES).unwrap();
            ((pinned, memory.buffer(&memory.a, 1)), ())
        },
        |memory, (mut pinned, mut target)| {
            memory.a.upload(&pinned, &mut target).unwrap();
            pinned.as_mut_slice_blocking().unwrap().fill(7);
        },
        |memory, ()| {
            memory.a.record().unwrap();
        },
        |_, ()| (),
    );
}

/// The host reads a download after later work was queued on the stream: it waits for the download, and not for the later
/// work. Another thread downloads on another stream meanwhile.
#[test]
pub(crate) fn a_download_before_later_work() {
    meet(
        (MemoryLimits::unbounded(), one_in_flight()),
        |memory| (memory.buffer(&memory.a, 1), memory.buffer(&memory.b, 1)),
        |memory, mut buffer| {
            memory.a.fill_bytes(&mut buffer, 1).unwrap();
            let download = memory.a.download(&buffer).unwrap();
            let later = memory.device.work(memory.a.raw());
            download.wait_blocking().unwrap();
            memory.device.done(memory.a.raw()) < later
        },
        |memory, mut buffer| {
            memory.b.fill_bytes(&mut buffer, 1).unwrap();
            drop(memory.b.download(&buffer).unwrap());
        },
        |_, waits_for_no_more| assert!(waits_for_no_more, "the host waits for later work"),
    );
}

/// A thread closes the pools, and another one returns memory.
#[test]
pub(crate) fn memory_that_is_returned_while_its_pool_is_closed() {
    explore_watched_or_not(|watches| {
        let Memory { device, a, b, pool, pinned } =
            Memory::new(watches, MemoryLimits::unbounded(), one_in_flight());
        let shape = Shape::new(&[BYTES]).unwrap();
        let buffer = Buffer::<u8>::new(&pool, &a, &shape).unwrap();
        let locked = Pinned::<u8>::for_host(&pinned, BYTES).unwrap();
        let thread = thread::spawn(move || drop((buffer, locked)));
        drop((pool, pinned));
        thread.join().unwrap();
        assert_eq!(device.allocated(), (0, 0), "memory is not given back");
        drop((a, b));
        device.check();
    });
}
