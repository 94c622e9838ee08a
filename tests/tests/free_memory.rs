//! Unused memory: how much of it stays, when it is given back, and that all pools of a device can use it.

use std::sync::Arc;

use streamflow::driver::host::HostDriver;
use streamflow::driver::{Driver, Recorder};
use streamflow::memory::{Allocator, MemoryLimits, MemoryOptions, Pinned, PinnedSlice, Trimmed};
use streamflow::prelude::*;
use streamflow_driver::driver::{Call, RecordedRange};
use streamflow_tests::kernels::{fill, slow_copy};
use streamflow_tests::setup::{recorded, stream};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

const MIB: usize = 1 << 20;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("downloads_of_many_sizes_hold_little_page_locked_memory", many_downloads)
        .both("tensors_of_many_sizes_hold_little_device_memory", many_tensors)
        .both("page_locked_memory_stays_within_its_limit", within_the_limit)
        .both("page_locked_memory_beyond_its_limit_is_an_error", beyond_the_limit)
        .both("memory_of_the_same_size_is_reused_at_the_limit", same_size)
        .both("page_locked_memory_is_given_back_at_the_end_of_a_run", end_of_a_run)
        .both("no_memory_is_given_back_while_another_run_is_in_progress", two_runs)
        .both("trim_gives_all_free_memory_back", trim)
        .both("trim_keeps_memory_in_use", trim_in_use)
        .host("a_call_after_trim_binds_its_device_again", bound_after_trim)
        .seeded("free_memory_of_one_pool_is_there_for_all_others", each_pool_for_each)
        .seeded("memory_of_another_pool_is_reused_after_its_last_use", in_order)
        .seeded("an_exhausted_device_names_its_pools", holders)
        .both("parts_of_page_locked_memory_are_uploaded_and_downloaded_into", parts)
        .both("parts_of_page_locked_memory_keep_their_bounds", bounds)
        .both("a_part_of_page_locked_memory_is_sent", sent)
}

/// A recorder that starts with the platform's own pools.
fn recorded_with(
    platform: &Platform,
    memory: MemoryOptions,
) -> Result<(Arc<Recorder>, Platform), Failed> {
    let recorder = Arc::new(Recorder::new(platform.driver().clone()));
    let platform = Platform::builder().memory(memory).driver(recorder.clone())?;
    Ok((recorder, platform))
}

/// Returns the most bytes that were allocated at one time, and the bytes at the end: of page-locked memory or of device
/// memory.
fn held(calls: &[Call], is_pinned: bool) -> (u64, u64) {
    let (mut now, mut most) = (0_u64, 0_u64);
    let bytes = |place: &RecordedRange| match *place {
        RecordedRange::Device { bytes, .. } | RecordedRange::Pinned { bytes, .. } => bytes,
        _ => 0,
    };
    for call in calls {
        match call {
            Call::AllocatePinned { place, .. } if is_pinned => now += bytes(place),
            Call::FreePinned { place, .. } if is_pinned => now -= bytes(place),
            Call::Allocate { place, .. } if !is_pinned => now += bytes(place),
            Call::Free { place, .. } if !is_pinned => now -= bytes(place),
            _ => {}
        }
        most = most.max(now);
    }
    (most, now)
}

fn frees_pinned(recorder: &Recorder) -> usize {
    recorder.count(|call| matches!(call, Call::FreePinned { .. }))
}

/// Returns a size between 32 and 256 KiB, which differs for each number.
fn size(number: usize) -> usize {
    (32 << 10) + (number.wrapping_mul(2_654_435_761) >> 3) % (224 << 10)
}

/// Sends data of another size in each tick.
#[operator(streams(work))]
struct Sizes {
    #[output]
    data: Tensor<u8>,
}

impl Compute for Sizes {
    fn compute(&mut self, io: SizesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.tensor([size(cx.tick() as usize)], &stream)?;
        stream.fill_bytes(&mut data, cx.tick() as u8)?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

/// Downloads its message and compares the data.
#[operator]
struct Compare {
    #[input]
    data: &Tensor<u8>,
    wrong: usize,
}

impl Compute for Compare {
    fn compute(&mut self, io: CompareIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let download = cx.download(data, &stream)?;
        let found = download.wait_blocking()?;
        let is_right = found.len() == size(cx.tick() as usize);
        let is_filled = found.iter().all(|&byte| byte == cx.tick() as u8);
        self.wrong += usize::from(!is_right || !is_filled);
        Ok(())
    }
}

graph! {
    struct ManySizes(count: u64) {
        #[when(count(count))] let sizes: Sizes = Sizes::new();
        let compare: Compare = Compare::new(0);
        sizes.data >> compare.data;
    }
}

const TICKS: u64 = 150;

fn many_sizes(platform: &Platform, memory: MemoryOptions) -> Result<Vec<Call>, Failed> {
    let (recorder, platform) = recorded_with(platform, memory)?;
    let mut graph = ManySizes::new(&platform, TICKS)?;
    graph.run()?;
    check_equal(graph.compare().wrong, 0)?;
    Ok(recorder.calls())
}

/// Downloads all sizes. Blocks of all sizes at once would need 21 MB; each power of two has eight sizes.
fn many_downloads(platform: &Platform) -> Result<(), Failed> {
    let calls = many_sizes(platform, MemoryOptions::new())?;
    let (most, _) = held(&calls, true);
    check(most < 8 * MIB as u64, || format!("{most} bytes of page-locked memory"))?;
    let freed = calls.iter().any(|call| matches!(call, Call::FreePinned { .. }));
    check(!freed, || "memory was given back below the limit".into())
}

fn many_tensors(platform: &Platform) -> Result<(), Failed> {
    let memory = MemoryOptions::new().small_in_flight(2);
    let (most, _) = held(&many_sizes(platform, memory)?, false);
    check(most < 12 * MIB as u64, || format!("{most} bytes of device memory"))
}

fn within_the_limit(platform: &Platform) -> Result<(), Failed> {
    const LIMIT: u64 = MIB as u64 / 2;
    let calls = many_sizes(platform, MemoryOptions::new().pinned_limit(LIMIT))?;
    let (most, _) = held(&calls, true);
    check(most <= LIMIT && most > LIMIT / 2, || format!("{most} bytes of page-locked memory"))
}

fn beyond_the_limit(platform: &Platform) -> Result<(), Failed> {
    let limit = 10 * 4096;
    let (recorder, platform) = recorded_with(platform, MemoryOptions::new().pinned_limit(limit))?;
    let s = stream(&platform)?;
    let exhausted = |error: &Error| matches!(error, Error::PinnedExhausted { .. });
    let alone = platform.pinned::<u8>(device(0), 10 * 4096 + 1);
    let text = check_error("alone", alone, exhausted)?;
    check_text(&text, &["device 0", "45056 bytes", "0 of 40960", "`MemoryOptions::pinned_limit`"])?;
    // The whole limit can be used, even if a size is rounded up.
    drop(platform.pinned::<u8>(device(0), 9 * 4096 + 5)?);
    let kept = platform.pinned::<u8>(device(0), 6 * 4096)?;
    let data = platform.upload(&[5_u8; 5 * 4096])?;
    let text = check_error("a download", s.download(&data), exhausted)?;
    check_text(&text, &["24576 of 40960", "at least 45056"])?;
    let (_, now) = held(&recorder.calls(), true);
    check_equal(now, 6 * 4096)?;
    drop(kept);
    check(s.download(&data)?.wait_blocking()? == [5; 5 * 4096], || "wrong data".into())
}

/// The device may still use a free block. The next allocation of its size gets this block, and the driver neither
/// allocates nor frees memory.
fn same_size(platform: &Platform) -> Result<(), Failed> {
    const LEN: usize = 1024;
    let (recorder, platform) = recorded_with(platform, MemoryOptions::new().pinned_limit(4096))?;
    let s = stream(&platform)?;
    let mut data = platform.tensor::<f32>([LEN], &s)?;
    for value in 1..9 {
        let mut pinned = platform.pinned::<f32>(device(0), LEN)?;
        pinned.as_mut_slice_blocking()?.fill(value as f32);
        s.upload(&pinned, &mut data)?;
        drop(pinned);
        check(s.download(&data)?.wait_blocking()? == [value as f32; LEN], || "wrong data".into())?;
    }
    check_equal(frees_pinned(&recorder), 0)?;
    check_equal(held(&recorder.calls(), true).0, 4096)
}

/// Downloads data of a given number of bytes in each tick.
#[operator(streams(work))]
struct Large {
    #[output]
    seen: usize,
    bytes: usize,
}

impl Compute for Large {
    fn compute(&mut self, io: LargeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.tensor::<u8>([self.bytes], &stream)?;
        stream.fill_bytes(&mut data, 3)?;
        io.seen.emit(cx.download(&data, &stream)?.wait_blocking()?.len())
    }
}

graph! {
    struct Downloads(bytes: usize) {
        #[when(count(3))] let large: Large = Large::new(bytes);
        large.seen >> _;
    }
}

fn end_of_a_run(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let mut small = Downloads::new(&platform, MIB)?;
    let mut large = Downloads::new(&platform, 17 * MIB)?;
    small.run()?;
    // Some free memory is kept, so that the next run need not allocate it again.
    check_equal(frees_pinned(&recorder), 0)?;
    large.run()?;
    let (_, now) = held(&recorder.calls(), true);
    check(now <= 16 * MIB as u64 && now > 0, || format!("{now} bytes after the run"))?;
    recorder.clear();
    large.run()?;
    no_free_before_a_copy(&recorder)
}

/// Checks that page-locked memory was given back, and only after the last copy.
fn no_free_before_a_copy(recorder: &Recorder) -> Result<(), Failed> {
    let calls = recorder.calls();
    let copied = calls.iter().rposition(|call| matches!(call, Call::Copy { .. }));
    let freed = calls.iter().position(|call| matches!(call, Call::FreePinned { .. }));
    check(freed > copied && copied.is_some(), || {
        format!("freed at {freed:?}, copied at {copied:?}")
    })
}

/// Runs another graph in each tick.
#[operator]
struct Runs {
    #[output]
    ran: u64,
    other: Downloads,
}

impl Compute for Runs {
    fn compute(&mut self, io: RunsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.other.run()?;
        io.ran.emit(cx.tick())
    }
}

graph! {
    struct Nested() {
        #[when(count(2))] let runs: Runs = Runs::new(Downloads::new(platform, 17 * MIB)?);
        runs.ran >> _;
    }
}

fn two_runs(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    Nested::new(&platform)?.run()?;
    no_free_before_a_copy(&recorder)
}

fn trim(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let s = stream(&platform)?;
    let limits = MemoryLimits::stream_ordered().max_size(4096);
    let allocator = platform.allocator("A", device(0), limits)?;
    check_equal(platform.trim()?, Trimmed::default())?;
    let mut of_platform = platform.buffer::<f32>(1000, &s)?;
    let mut of_allocator = allocator.buffer::<u8>(4096, &s)?;
    // The memory's last work is not complete yet.
    s.launch::<fill>(1000, (&mut of_platform, 1.0))?;
    s.fill_bytes(&mut of_allocator, 1)?;
    drop(s.download(&of_platform)?);
    drop(platform.pinned::<u8>(device(0), 8192)?);
    drop((of_platform, of_allocator));
    check_equal(allocator.reserved(), 4096)?;
    let trimmed = platform.trim()?;
    check_equal((trimmed.device, trimmed.pinned), (2 * 4096, 4096 + 8192))?;
    check_equal(allocator.reserved(), 0)?;
    let calls = recorder.calls();
    check_equal((held(&calls, true).1, held(&calls, false).1), (0, 0))?;
    check(calls.iter().any(|call| matches!(call, Call::Trim { keep: 0, .. })), || {
        "no trim".into()
    })?;
    check_equal(platform.trim()?, Trimmed::default())
}

fn trim_in_use(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let s = stream(&platform)?;
    let mut data = platform.tensor::<f32>([700], &s)?;
    s.launch::<fill>(700, (&mut data, 4.0))?;
    let download = s.download(&data)?;
    check_equal(platform.trim()?, Trimmed::default())?;
    check_equal(frees_pinned(&recorder), 0)?;
    check(download.wait_blocking()? == [4.0; 700], || "the download is wrong".into())?;
    check(s.download_blocking(&data)? == [4.0; 700], || "the data is wrong".into())
}

/// `trim` binds each device. A stream of another device than the last one must bind its own again.
fn bound_after_trim(_: &Platform) -> Result<(), Failed> {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::builder().devices(2).build());
    let (recorder, platform) = recorded(driver)?;
    let s = stream(&platform)?;
    let mut data = platform.tensor::<f32>([700], &s)?;
    s.launch::<fill>(700, (&mut data, 4.0))?;
    platform.trim()?;
    s.download_blocking(&data)?;
    let calls = recorder.calls();
    let bound = calls.iter().rev().find_map(|call| match call {
        Call::Bind { device } => Some(*device),
        _ => None,
    });
    check_equal(bound, Some(device(0)))
}

/// How many bytes of memory the device has.
const DEVICE: usize = 64 << 10;

/// Several pools on a device with little memory.
struct Pools {
    platform: Platform,
    unbounded: Allocator,
    limited: Allocator,
}

impl Pools {
    fn new(seed: u64) -> Result<Self, Failed> {
        let driver: Arc<dyn Driver> =
            Arc::new(HostDriver::builder().seed(seed).memory(DEVICE as u64).build());
        let platform = Platform::builder().race_check(true).driver(driver)?;
        let unbounded = platform.allocator("FRAMES", device(0), MemoryLimits::unbounded())?;
        let limits = MemoryLimits::stream_ordered().max_size(60 << 10);
        let limited = platform.allocator("LIMITED", device(0), limits)?;
        Ok(Self { platform, unbounded, limited })
    }

    fn buffer(&self, pool: usize, bytes: usize, stream: &CudaStream) -> Result<Buffer<f32>, Error> {
        let len = bytes / size_of::<f32>();
        match pool {
            0 => self.platform.buffer(len, stream),
            1 => self.unbounded.buffer(len, stream),
            _ => self.limited.buffer(len, stream),
        }
    }
}

fn each_pool_for_each(seed: u64) -> Result<(), Failed> {
    for first in 0..3 {
        for second in 0..3 {
            let pools = Pools::new(seed)?;
            let (a, b) = (stream(&pools.platform)?, stream(&pools.platform)?);
            let frames: Vec<_> = (0..12)
                .map(|i| pools.buffer(first, 4096 - i * 512 / 4, &a))
                .collect::<Result<_, Error>>()?;
            drop(frames);
            let mut data = pools.buffer(second, 40 << 10, &b)?;
            b.launch::<fill>(data.len(), (&mut data, 2.0))?;
            let found = b.download_blocking(&data)?;
            check(found.iter().all(|&x| x == 2.0), || format!("{first}, {second}: wrong data"))?;
        }
    }
    Ok(())
}

/// A slow kernel of another stream still reads memory that is free in one pool, and another pool needs that memory.
fn in_order(seed: u64) -> Result<(), Failed> {
    let pools = Pools::new(seed)?;
    let (a, b) = (stream(&pools.platform)?, stream(&pools.platform)?);
    let mut copy = pools.buffer(0, 8 << 10, &b)?;
    let mut data = pools.buffer(1, 32 << 10, &a)?;
    a.launch::<fill>(data.len(), (&mut data, 7.0))?;
    let len = copy.len();
    let part = data.slice(..len).ok_or_else(|| Failed::msg("a part"))?;
    b.launch::<slow_copy>(len, (&mut copy, &part, 20_000))?;
    drop(data);
    let mut next = pools.buffer(2, 48 << 10, &a)?;
    a.launch::<fill>(next.len(), (&mut next, 9.0))?;
    check(a.download_blocking(&next)?.iter().all(|&x| x == 9.0), || "wrong new data".into())?;
    check(b.download_blocking(&copy)?.iter().all(|&x| x == 7.0), || "wrong old data".into())?;
    let races = pools.platform.take_races();
    check(races.is_empty(), || format!("{races:?}"))
}

fn holders(seed: u64) -> Result<(), Failed> {
    let pools = Pools::new(seed)?;
    let a = stream(&pools.platform)?;
    let _kept = (pools.buffer(1, 32 << 10, &a)?, pools.buffer(2, 8 << 10, &a)?);
    drop(pools.buffer(0, 8 << 10, &a)?);
    let refused = pools.buffer(0, 32 << 10, &a);
    let held = [("FRAMES".to_owned(), 32 << 10, 0), ("LIMITED".to_owned(), 8 << 10, 0)];
    let text = check_error("all pools", refused, |error| match error {
        Error::OutOfMemory { requested: 32768, total: 65536, pools, .. } => *pools == held,
        _ => false,
    })?;
    check_text(
        &text,
        &[
            "device 0",
            "32768 bytes were requested",
            "of its 65536 bytes 40960 are in use",
            "32768 by allocator `FRAMES`, 8192 by allocator `LIMITED`",
            "`MemoryLimits::max_size` bounds allocator `FRAMES`",
            "`HostBuilder::memory`",
        ],
    )?;
    // The memory that was given back for the refused allocation is available for a smaller one.
    pools.buffer(0, 16 << 10, &a).map(drop)?;
    Ok(())
}

fn parts(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut staging = platform.pinned::<u16>(device(0), 900)?;
    for (i, value) in staging.as_mut_slice_blocking()?.iter_mut().enumerate() {
        *value = i as u16;
    }
    // Packets of several sizes, including zero, from different offsets.
    for (start, len) in [(0, 140), (7, 1), (100, 0), (900, 0), (450, 450), (0, 900)] {
        let mut packet = platform.tensor::<u16>([len], &s)?;
        let part = staging.slice(start..start + len).ok_or_else(|| Failed::msg("a part"))?;
        s.upload(&part, &mut packet)?;
        let wanted: Vec<u16> = (start..start + len).map(|i| i as u16).collect();
        check_equal(part.as_slice_blocking()?, &*wanted)?;
        check_equal(s.download_blocking(&packet)?, wanted)?;
    }
    let mut packet = platform.tensor::<u16>([3], &s)?;
    s.fill_bytes(&mut packet, 0xff)?;
    let mut middle = staging.slice_mut(300..600).ok_or_else(|| Failed::msg("a part"))?;
    let mut inner = middle.slice_mut(10..=12).ok_or_else(|| Failed::msg("a part of a part"))?;
    s.download_into(&packet, &mut inner)?;
    check_equal(inner.as_slice_blocking()?, &[0xffff; 3])?;
    // The host writes a part of the buffer after the copy.
    middle.as_mut_slice_blocking()?[13] = 5;
    check_equal(&staging.as_slice_blocking()?[309..315], &[309, 0xffff, 0xffff, 0xffff, 5, 314])
}

fn bounds(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut staging = platform.pinned::<f32>(device(0), 10)?;
    let none = |part: Option<&PinnedSlice<f32>>| check(part.is_none(), || format!("{part:?}"));
    for range in [0..11, 11..11, usize::MAX..usize::MAX] {
        none(staging.slice(range.clone()).as_deref())?;
        none(staging.slice_mut(range).as_deref())?;
    }
    none(staging.slice(..=usize::MAX).as_deref())?;
    #[allow(clippy::reversed_empty_ranges, reason = "it is refused")]
    none(staging.slice(4..3).as_deref())?;
    let part = staging.slice(2..5).ok_or_else(|| Failed::msg("a part"))?;
    none(part.slice(..4).as_deref())?;
    let mut packet = platform.tensor::<f32>([4], &s)?;
    let mismatch = |error: &Error| {
        matches!(error, Error::LengthMismatch { what: "upload", source_len: 3, target_len: 4 })
    };
    check_error("a part that is too short", s.upload(&part, &mut packet), mismatch)?;
    check(staging.into_part(..11).is_none(), || "a part beyond the end".into())
}

/// Fills a buffer of the largest size, and sends only the filled part.
#[operator(streams(work))]
struct Packets {
    #[output]
    packet: Pinned<u8>,
}

impl Compute for Packets {
    fn compute(&mut self, io: PacketsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let len = 100 * (cx.tick() as usize + 1);
        let mut staging = cx.pinned(4000)?;
        staging.as_mut_slice_blocking()?.fill(0);
        staging.as_mut_slice_blocking()?[..len].fill(len as u8);
        let packet = staging.into_part(..len);
        let out = io.packet.set_cuda_stream(&stream);
        out.emit(packet.ok_or_else(|| Failure::msg("a packet is too long"))?)
    }
}

/// Uploads each packet.
#[operator]
struct Upload {
    #[input]
    packet: &Pinned<u8>,
    seen: Vec<(usize, bool)>,
}

impl Compute for Upload {
    fn compute(&mut self, io: UploadIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (packet, stream) = io.packet.receive().receive_cuda_stream(cx)?;
        let mut data = cx.tensor([packet.len()], &stream)?;
        stream.upload(packet, &mut data)?;
        let found = stream.download_blocking(&data)?;
        self.seen.push((found.len(), found.iter().all(|&byte| byte == found.len() as u8)));
        Ok(())
    }
}

graph! {
    struct Sending() {
        #[when(count(3))] let packets: Packets = Packets::new();
        let upload: Upload = Upload::new(Vec::new());
        packets.packet >> upload.packet;
    }
}

fn sent(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Sending::new(platform)?;
    graph.run()?;
    check_equal(&*graph.upload().seen, &[(100, true), (200, true), (300, true)])
}
