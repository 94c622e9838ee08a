//! Allocators with limits: their sizes, their errors, and that memory is recycled only after all its uses on all
//! streams.

mod limits;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use streamflow::driver::host::HostDriver;
use streamflow::driver::{RawStream, Recorder};
use streamflow::memory::{Allocator, MemoryLimits, MemoryOptions};
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_driver::driver::race::RaceChecker;
use streamflow_tests::kernels::{fill, slow_copy, slow_fill};
use streamflow_tests::layers::{CallKind, DropWaits, FailNth};
use streamflow_tests::ordered::without_waits;
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::Show;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

const LEN: usize = 1003;
/// How many bytes a tensor of `LEN` elements has in a pool.
const BYTES: u64 = 4096;
const SLOW: u64 = 20_000_000;

pub(crate) fn suite() -> Suite {
    limits::add(Suite::new())
        .both("an_exhausted_block_pool_counts_the_blocks_of_each_holder", counted_blocks)
        .both("an_allocation_larger_than_a_block_is_an_error", small_block)
        .both("a_full_allocator_names_its_holders", full)
        .both("free_memory_of_other_sizes_makes_room", other_sizes)
        .both("a_failed_free_does_not_count_as_room", no_room)
        .both("a_block_whose_calls_fail_gives_its_room_back", given_back)
        .plain("a_block_in_the_room_of_others_is_ordered_after_its_allocation", checked_room)
        .both("a_block_is_recycled_after_a_slow_read_on_another_stream", slow_reader)
        .control("a_block_is_recycled", |driver| without_waits(slow_read_is_ordered, driver))
        .both("a_sink_keeps_its_block_until_it_has_read", graph)
        .both("ticks_of_other_sizes_take_the_room_of_the_ones_before", sizes)
        .both("tensors_outlive_their_allocator", outlives)
        .seeded("free_memory_above_the_threshold_is_returned_to_the_driver", threshold)
        .seeded("a_warm_block_pool_makes_no_allocation", warm)
        .seeded("pinned_blocks_whose_free_failed_stay_in_the_pool", page_locked)
}

struct Bench {
    a: CudaStream,
    b: CudaStream,
}

fn bench(platform: &Platform) -> Result<Bench> {
    let pool = platform.stream_pool("STREAMS", &CudaStreamPool::new())?;
    Ok(Bench { a: pool.allocate("source.fill")?, b: pool.allocate("show")? })
}

fn amounts(allocator: &Allocator, used: u64, reserved: u64) -> Result<(), Failed> {
    let found = (allocator.used(), allocator.reserved());
    check(found == (used, reserved), || format!("{found:?}, not {:?}", (used, reserved)))
}

fn counted_blocks(platform: &Platform) -> Result<(), Failed> {
    const LIMITS: MemoryLimits = MemoryLimits::blocks(BYTES, 4);
    let Bench { a, b } = bench(platform)?;
    let allocator = platform.allocator("FRAMES", device(0), LIMITS)?;
    let on_a = [allocator.buffer::<u8>(1, &a)?, allocator.buffer(2, &a)?, allocator.buffer(3, &a)?];
    let on_b = allocator.tensor::<f32>([17, 59], &b)?;
    amounts(&allocator, 4 * BYTES, 4 * BYTES)?;
    let is_right = |error: &Error| match error {
        Error::BlocksExhausted { pool, who, blocks: 4, holders } => {
            (pool.as_str(), who.as_str()) == ("FRAMES", "show")
                && *holders == [("source.fill".to_owned(), 3), ("show".to_owned(), 1)]
        }
        _ => false,
    };
    let fifth = allocator.buffer::<u8>(1, &b);
    let text = check_error("a fifth", fifth, is_right)?;
    check_text(
        &text,
        &[
            "`FRAMES`",
            "all 4",
            "allocated for the streams `source.fill` (3), `show` (1); messages",
            "at least 5",
        ],
    )?;
    // Every stream can get the memory of a dropped block.
    drop(on_a);
    let more: Vec<Buffer<u8>> =
        (0..3).map(|_| allocator.buffer(9, &b)).collect::<Result<_, Error>>()?;
    amounts(&allocator, 4 * BYTES, 4 * BYTES)?;
    drop((more, on_b));
    amounts(&allocator, 0, 4 * BYTES)
}

fn small_block(platform: &Platform) -> Result<(), Failed> {
    let Bench { a, .. } = bench(platform)?;
    let allocator = platform.allocator("SMALL", device(0), MemoryLimits::blocks(100, 4))?;
    check(allocator.buffer::<u8>(100, &a).is_ok(), || "100 bytes fit".into())?;
    let is_right = |error: &Error| matches!(error, Error::BlockSize { .. });
    let text = check_error("101", allocator.buffer::<u8>(101, &a), is_right)?;
    check_text(&text, &["`SMALL`", "100 bytes", "101 bytes are needed"])
}

fn full(platform: &Platform) -> Result<(), Failed> {
    let Bench { a, b } = bench(platform)?;
    let limits = MemoryLimits::stream_ordered().max_size(3 * BYTES);
    let allocator = platform.allocator("FULL", device(0), limits)?;
    let kept = [allocator.tensor::<f32>([LEN], &a)?, allocator.tensor([LEN], &a)?];
    let is_right = |error: &Error| matches!(error, Error::MemoryExhausted { .. });
    let text = check_error("too much", allocator.tensor::<f32>([2 * LEN], &b), is_right)?;
    check_text(
        &text,
        &[
            "`FULL`",
            "`show` needs 8192 bytes",
            "8192 of 12288",
            "`source.fill` (2)",
            "at least 16384",
        ],
    )?;
    amounts(&allocator, 2 * BYTES, 2 * BYTES)?;
    drop(kept);
    let huge = allocator.tensor::<f32>([1 << 20], &b);
    let text = check_error("more than ever", huge, is_right)?;
    check_text(&text, &["0 of 12288 are in use;"])?;
    // The failed allocation has freed no block.
    amounts(&allocator, 0, 2 * BYTES)
}

/// A free fails in the driver. The allocation that needed it returns the error, and its bytes do not count as in use.
fn no_room(on: &Platform) -> Result<(), Failed> {
    let failing = Arc::new(FailNth::new(on.driver().clone(), CallKind::Free, u64::MAX));
    let platform = Platform::builder().driver(failing.clone())?;
    let Bench { a, .. } = bench(&platform)?;
    let limits = MemoryLimits::stream_ordered().max_size(2 * BYTES);
    let allocator = platform.allocator("ROOM", device(0), limits)?;
    drop([allocator.tensor::<f32>([LEN], &a)?, allocator.tensor([LEN], &a)?]);
    amounts(&allocator, 0, 2 * BYTES)?;
    failing.fail_next();
    let refused = allocator.tensor::<f32>([2 * LEN], &a);
    check_text(&check_error("free", refused, |_| true)?, &["free", "INJECTED"])?;
    amounts(&allocator, 0, 0)?;
    let two = allocator.tensor::<f32>([2 * LEN], &a)?;
    amounts(&allocator, 2 * BYTES, 2 * BYTES)?;
    drop(two);
    Ok(())
}

/// Making a block in the memory of freed blocks takes several driver calls. Each of these calls fails in turn. The
/// allocation returns the error, and the next one finds all of the memory free.
fn given_back(on: &Platform) -> Result<(), Failed> {
    let kinds = [CallKind::WaitEvent, CallKind::RecordEvent, CallKind::Free, CallKind::Allocate];
    for kind in kinds {
        for nth in 0.. {
            let failing = Arc::new(FailNth::new(on.driver().clone(), kind, u64::MAX));
            let platform = Platform::builder().driver(failing.clone())?;
            let Bench { a, b } = bench(&platform)?;
            let limits = MemoryLimits::stream_ordered().max_size(2 * BYTES);
            let allocator = platform.allocator("ROOM", device(0), limits)?;
            let mut both = [allocator.tensor::<f32>([LEN], &a)?, allocator.tensor([LEN], &a)?];
            both.iter_mut().try_for_each(|data| b.launch::<fill>(LEN, (data, 1.0)))?;
            drop(both);
            failing.fail_nth(nth);
            let made = allocator.tensor::<f32>([2 * LEN], &a);
            if !failing.has_failed() {
                check(nth > 0, || format!("no call of {}", kind.name()))?;
                break;
            }
            check_text(&check_error(kind.name(), made, |_| true)?, &[kind.name(), "INJECTED"])?;
            amounts(&allocator, 0, 0)?;
            let mut two = allocator.tensor::<f32>([2 * LEN], &a)?;
            a.launch::<fill>(2 * LEN, (&mut two, 9.0))?;
            let found = a.download_blocking(&two)?;
            check(found.iter().all(|&value| value == 9.0), || format!("{found:?}"))?;
        }
    }
    Ok(())
}

/// Freed memory belongs to the stream that allocated it, until the new block's stream has waited for that stream.
fn checked_room() -> Result<(), Failed> {
    for drops in [false, true] {
        let program = Arc::new(AtomicU64::new(u64::MAX));
        let of = program.clone();
        let checker = Arc::new(RaceChecker::new(Arc::new(HostDriver::builder().build())));
        let filter = move |stream: RawStream, _| drops && stream.handle() == of.load(Relaxed);
        let driver = Arc::new(DropWaits::when(checker, filter));
        let platform = Platform::builder().driver(driver.clone())?;
        let Bench { a, .. } = bench(&platform)?;
        program.store(a.raw().handle(), Relaxed);
        let limits = MemoryLimits::stream_ordered().max_size(2 * BYTES);
        let allocator = platform.allocator("ROOM", device(0), limits)?;
        drop(allocator.tensor::<f32>([LEN], &a)?);
        let mut two = allocator.tensor::<f32>([2 * LEN], &a)?;
        a.launch::<fill>(2 * LEN, (&mut two, 9.0))?;
        let (races, dropped) = (platform.take_races(), driver.dropped());
        check((races.is_empty(), dropped) == (!drops, u64::from(drops)), || {
            format!("{dropped} waits were dropped: {races}")
        })?;
    }
    Ok(())
}

/// Free blocks of another size are freed only after their last reads.
fn other_sizes(platform: &Platform) -> Result<(), Failed> {
    let Bench { a, b } = bench(platform)?;
    let limits = MemoryLimits::stream_ordered().max_size(3 * BYTES);
    let allocator = platform.allocator("ROOM", device(0), limits)?;
    let mut copies = Vec::new();
    for value in [1.0, 2.0, 3.0] {
        let mut data = allocator.tensor::<f32>([LEN], &a)?;
        let mut copy = platform.buffer(LEN, &b)?;
        a.launch::<fill>(LEN, (&mut data, value))?;
        b.launch::<slow_copy>(LEN, (&mut copy, &data, SLOW / 10))?;
        copies.push((value, copy));
    }
    amounts(&allocator, 0, allocator.reserved())?;
    let mut large = allocator.tensor::<f32>([3 * LEN], &a)?;
    a.launch::<fill>(large.len(), (&mut large, 9.0))?;
    check(allocator.reserved() <= 3 * BYTES, || format!("{}", allocator.reserved()))?;
    for (value, copy) in copies {
        let found = b.download_blocking(&copy)?;
        check(found.iter().all(|&x| x == value), || format!("{value} became {}", found[0]))?;
    }
    Ok(())
}

fn slow_reader(platform: &Platform) -> Result<(), Failed> {
    check(slow_read_is_ordered(platform)?, || "the data is wrong".into())
}

/// The pool has one block. Its next owner, on another stream, must wait for a slow read.
fn slow_read_is_ordered(platform: &Platform) -> Result<bool> {
    let Bench { a, b } = bench(platform)?;
    let allocator = platform.allocator("ONE", device(0), MemoryLimits::blocks(BYTES, 1))?;
    let mut copy = platform.buffer(LEN, &a)?;
    let mut data = allocator.tensor::<f32>([LEN], &a)?;
    a.launch::<slow_fill>(LEN, (&mut copy, 0.0, 0))?;
    a.launch::<fill>(LEN, (&mut data, 7.0))?;
    a.synchronize_blocking()?;
    a.launch::<slow_copy>(LEN, (&mut copy, &data, SLOW))?;
    drop(data);
    let mut next = allocator.tensor::<f32>([LEN], &b)?;
    b.launch::<fill>(LEN, (&mut next, 9.0))?;
    let written = b.download_blocking(&next)?.iter().all(|&value| value == 9.0);
    Ok(written && a.download_blocking(&copy)?.iter().all(|&value| value == 7.0))
}

/// Allocates its images from a block pool.
#[operator(streams(work))]
struct BlockSource {
    #[output]
    image: Tensor<f32>,
    blocks: Allocator,
    /// The lengths of the images, used alternately.
    lens: [usize; 2],
}

impl Compute for BlockSource {
    fn compute(&mut self, io: BlockSourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let len = self.lens[cx.tick() as usize % 2];
        let mut image = self.blocks.tensor([len], &stream)?;
        stream.launch::<fill>(len, (&mut image, cx.tick() as f32 + 1.0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Queues a slow read, and drops the tensor before the read is executed.
#[operator]
struct SlowSink {
    #[input]
    image: Tensor<f32>,
    #[output]
    copy: Tensor<f32>,
}

impl Compute for SlowSink {
    fn compute(&mut self, io: SlowSinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut copy = cx.tensor([image.len()], &stream)?;
        stream.launch::<slow_copy>(image.len(), (&mut copy, &image, SLOW / 10))?;
        drop(image);
        io.copy.emit(copy)
    }
}

graph! {
    struct Blocks(blocks: Allocator, lens: [usize; 2], count: u64) {
        const POOL: CudaStreamPool = CudaStreamPool::new().max_size(3);

        #[streams(POOL)] #[when(count(count))]
        let source: BlockSource = BlockSource::new(blocks, lens);
        #[streams(POOL)]
        let sink: SlowSink = SlowSink::new();
        #[streams(POOL)]
        let show: Show = Show::new(Vec::new());

        source.image >> sink.image;
        sink.copy >> show.image;
    }
}

fn graph(platform: &Platform) -> Result<(), Failed> {
    for count in [1, 2, 3] {
        let blocks = platform.allocator("BLOCKS", device(0), MemoryLimits::blocks(BYTES, count))?;
        let mut graph = Blocks::new(platform, blocks.clone(), [LEN; 2], 5)?;
        let done = graph.run();
        if count == 1 && done.is_err() {
            // If the scheduler runs ahead, one image waits at the sink while the next is allocated.
            let text = check_error("one block", done, |error| {
                matches!(error, Error::Operator { cause, .. }
                    if matches!(cause.downcast_ref(), Some(Error::BlocksExhausted { .. })))
            })?;
            check_text(&text, &["`source`", "`BLOCKS`", "`source.work` (1)"])?;
            continue;
        }
        done?;
        let seen: Vec<f32> = graph.show().seen().iter().map(|(value, _)| *value).collect();
        check(seen == [1.0, 2.0, 3.0, 4.0, 5.0], || format!("{count} blocks: {seen:?}"))?;
        amounts(&blocks, 0, blocks.reserved())?;
    }
    Ok(())
}

/// Two images of one size don't fit into the pool next to an image of the other size, so each tick frees and allocates.
fn sizes(platform: &Platform) -> Result<(), Failed> {
    let limits = MemoryLimits::stream_ordered().max_size(3 * BYTES);
    let room = platform.allocator("ROOM", device(0), limits)?;
    let mut graph = Blocks::new(platform, room.clone(), [LEN, 2 * LEN], 12)?;
    graph.run()?;
    let seen: Vec<f32> = graph.show().seen().iter().map(|(value, _)| *value).collect();
    let expected: Vec<f32> = (1..=12).map(|tick| tick as f32).collect();
    check(seen == expected, || format!("{seen:?}"))?;
    amounts(&room, 0, room.reserved())
}

fn outlives(platform: &Platform) -> Result<(), Failed> {
    let Bench { a, .. } = bench(platform)?;
    let mut data = {
        let allocator = platform.allocator("GONE", device(0), MemoryLimits::blocks(BYTES, 1))?;
        allocator.tensor::<f32>([LEN], &a)?
    };
    a.launch::<slow_fill>(LEN, (&mut data, 4.0, SLOW / 10))?;
    let found = a.download_blocking(&data)?;
    check(found.iter().all(|&value| value == 4.0), || "the data is wrong".into())
}

fn threshold(seed: u64) -> Result<(), Failed> {
    let (recorder, platform) = recorded(Arc::new(HostDriver::builder().seed(seed).build()))?;
    let Bench { a, .. } = bench(&platform)?;
    let limits = MemoryLimits::stream_ordered().release_threshold(BYTES);
    let allocator = platform.allocator("KEEPS", device(0), limits)?;
    let three: Vec<Tensor<f32>> =
        (0..3).map(|_| allocator.tensor([LEN], &a)).collect::<Result<_, Error>>()?;
    recorder.clear();
    drop(three);
    let freed = recorder.count(|call| matches!(call, Call::Free { .. }));
    check(freed == 2, || format!("{freed} blocks were freed"))?;
    amounts(&allocator, 0, BYTES)
}

fn warm(seed: u64) -> Result<(), Failed> {
    let (recorder, platform) = recorded(Arc::new(HostDriver::builder().seed(seed).build()))?;
    let blocks = platform.allocator("BLOCKS", device(0), MemoryLimits::blocks(BYTES, 3))?;
    let mut graph = Blocks::new(&platform, blocks, [LEN; 2], 20)?;
    graph.run()?;
    recorder.clear();
    graph.run()?;
    let made: Vec<_> = recorder.calls().into_iter().filter(Call::changes_resources).collect();
    check(made.is_empty(), || format!("{made:?}"))
}

/// Pinned memory runs out, and the free of the first idle block fails. The other blocks stay in the pool, and are freed
/// the next time.
fn page_locked(seed: u64) -> Result<(), Failed> {
    let driver = Arc::new(HostDriver::builder().seed(seed).build());
    let failing = Arc::new(FailNth::new(driver, CallKind::FreePinned, 0));
    let recorder = Arc::new(Recorder::new(failing));
    let memory = MemoryOptions::new().pinned_limit(u64::MAX);
    let platform = Platform::builder().memory(memory).driver(recorder.clone())?;
    let freed = || recorder.count(|call| matches!(call, Call::FreePinned { .. }));
    let idle: Vec<_> =
        (0..3).map(|_| platform.pinned::<f32>(device(0), LEN)).collect::<Result<_, Error>>()?;
    drop(idle);
    // The requested size is larger than any machine's memory.
    let ask = || platform.pinned::<u8>(device(0), 1 << 50).map(drop);
    check_text(&check_error("free", ask(), |_| true)?, &["free_pinned", "INJECTED"])?;
    check(freed() == 1, || format!("{} blocks were freed", freed()))?;
    check_text(&check_error("none", ask(), |_| true)?, &["out of memory"])?;
    check(freed() == 3, || format!("{} of 3 blocks were freed", freed()))
}
