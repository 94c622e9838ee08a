//! Bad input to streams and memory: a clear error that names the objects, no effect, and everything usable afterwards.

mod fallback;
mod no_stream;
mod variables;

use std::sync::Arc;

use streamflow::__private::AnyNode;
use streamflow::driver::host::HostDriver;
use streamflow::graph::Graph;
use streamflow::memory::{MemoryLimits, Shape};
use streamflow::prelude::*;
use streamflow::schedule::{Priority, Worker, Workers};
use streamflow_driver::driver::Call;
use streamflow_tests::kernels::{add_one, fill, slow_copy};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::setup::{recorded, stream};
use streamflow_tests::{Failed, Suite, check, check_error, check_text, foreign};

pub(crate) use fallback::in_child;

pub(crate) fn suite() -> Suite {
    variables::add(fallback::add(Suite::new()))
        .both("an_exhausted_pool_names_its_holders_and_recovers", exhausted_pool)
        .both("device_data_before_a_stream_is_received_is_an_error", no_stream::emits)
        .both("missing_devices_are_named", missing_devices)
        .both("different_lengths_are_an_error", lengths)
        .both("impossible_shapes_are_an_error", shapes)
        .both("strides_used_as_lengths_are_checked", strides_as_lengths)
        .both("blocks_larger_than_any_memory_are_an_error", blocks_larger_than_any_memory)
        .both("too_much_memory_is_an_error", too_much_memory)
        .seeded("memory_and_streams_of_another_platform_are_an_error", |seed| {
            platforms_do_not_mix(&host(seed)?, &host(seed + 1)?)
        })
        .cuda("memory_and_streams_of_another_platform_are_an_error", |platform| {
            platforms_do_not_mix(platform, &host(0)?)
        })
        .seeded("memory_and_streams_of_another_device_are_an_error", devices_do_not_mix)
        .seeded("a_pool_that_fails_returns_its_streams", failed_pool_keeps_no_streams)
        .seeded("free_pooled_memory_makes_room_for_an_allocation", pooled_memory_makes_room)
        .seeded("a_graph_by_hand_says_why_it_takes_no_workers", workers_of_a_graph_by_hand)
        .seeded("workers_that_a_graph_cannot_have_are_an_error", impossible_workers)
}

fn host(seed: u64) -> Result<Platform> {
    Ok(Platform::host().seed(seed).build()?)
}

fn exhausted_pool(platform: &Platform) -> Result<(), Failed> {
    const TWO: CudaStreamPool = CudaStreamPool::new().max_size(2).reserved_size(1);
    let pool = platform.stream_pool("CAMERA_STREAMS", &TWO)?;
    let source = pool.allocate("source1")?;
    let sink = pool.allocate("sink")?;
    for _ in 0..2 {
        let text = check_error("a third stream", pool.allocate("source2"), |error| {
            matches!(error, Error::PoolExhausted { max_size: 2, .. })
        })?;
        let names = ["`CAMERA_STREAMS`", "`source2`", "all 2", "`source1`, `sink`", "max_size"];
        check_text(&text, &names)?;
    }
    drop(sink);
    let other = pool.allocate("source2")?;
    let text = check_error("a third stream", pool.allocate("late"), |_| true)?;
    check_text(&text, &["`late`", "`source1`, `source2`"])?;
    check(pool.in_use() == 2, || format!("{} streams are in use", pool.in_use()))?;
    // Both streams must be usable after each error.
    for s in [&source, &other] {
        let mut data = platform.buffer(7, s)?;
        s.launch::<fill>(7, (&mut data, 3.0))?;
        check(s.download_blocking(&data)? == [3.0; 7], || "wrong data".into())?;
    }
    Ok(())
}

fn missing_devices(platform: &Platform) -> Result<(), Failed> {
    let count = platform.device_count();
    for index in [count as u32, u32::MAX] {
        let bad = device(index);
        let calls = [
            ("`pinned`", platform.pinned::<f32>(bad, 1).map(drop)),
            ("`default_stream`", platform.default_stream(bad).map(drop)),
            ("`device_info`", platform.device_info(bad).map(drop)),
            ("`module`", foreign::module(platform, bad, "").map(drop)),
            (
                "stream pool `P`",
                platform.stream_pool("P", &CudaStreamPool::new().device(bad)).map(drop),
            ),
        ];
        for (who, result) in calls {
            let text = check_error(
                who,
                result,
                |error| matches!(error, Error::NoSuchDevice { device, .. } if *device == bad),
            )?;
            check_text(&text, &[who, &format!("device {index}"), &format!("{count} device(s)")])?;
        }
    }
    Ok(())
}

fn lengths(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (mut short, mut long) = (platform.tensor([2, 2], &s)?, platform.tensor([5], &s)?);
    s.launch::<fill>(4, (&mut short, 1.0))?;
    s.launch::<fill>(5, (&mut long, 2.0))?;
    let mut pinned = platform.pinned::<f32>(device(0), 5)?;
    let four_to_five = [
        ("copy", s.copy(&short, &mut long)),
        ("upload", s.upload_blocking(&[9.0; 4], &mut long)),
        ("download", s.download_into(&short, &mut pinned)),
    ];
    for (what, result) in four_to_five {
        let text = check_error(what, result, |error| {
            matches!(error, Error::LengthMismatch { source_len: 4, target_len: 5, .. })
        })?;
        check_text(&text, &[what, "4 elements", "5"])?;
    }
    let mismatch = |error: &Error| matches!(error, Error::LengthMismatch { .. });
    check_error("upload", s.upload(&pinned, &mut short), mismatch)?;
    let refused = s.launch::<slow_copy>(5, (&mut long, &short, 0));
    let text =
        check_error("a kernel", refused, |error| matches!(error, Error::KernelRequirement { .. }))?;
    check_text(
        &text,
        &["`slow_copy`", "out.len() == input.len()", "out.len() = 5, input.len() = 4"],
    )?;
    check(s.download_blocking(&short)? == [1.0; 4], || "a call that failed has written".into())?;
    check(s.download_blocking(&long)? == [2.0; 5], || "a call that failed has written".into())?;
    for (wanted, right) in
        [(&[3][..], "[4]"), (&[7, 2], "[2, 2]"), (&[2, 3], "[4]"), (&[3, 0], "[4]")]
    {
        let tensor = platform.tensor::<f32>([2, 2], &s)?;
        let text = check_error("reshape", tensor.reshape(wanted), |error| {
            matches!(error, Error::ShapeMismatch { what: "reshape", .. })
        })?;
        let write = format!("write a shape of 4 elements, as `reshape({right})`");
        check_text(&text, &["shape [2, 2], 4 elements", &format!("{wanted:?}"), &write])?;
    }
    let long = long.reshape([5, 1, 1])?;
    check(long.shape() == [5, 1, 1], || format!("{long:?}"))
}

fn shapes(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let most = usize::MAX;
    // Includes shapes in which a zero dimension hides the overflow in the number of elements, but not in the strides.
    let too_large: [&[usize]; 6] =
        [&[most], &[most, 2], &[1 << 40, 1 << 40], &[0, most, most], &[most, 0, 3], &[1; 9]];
    let shape = |error: &Error| matches!(error, Error::Shape { .. });
    for dims in too_large {
        let text = check_error("a tensor", platform.tensor::<u8>(dims, &s), shape)?;
        check_text(&text, &[&format!("{dims:?}")])?;
        check_error("a shape", Shape::new(dims), shape)?;
    }
    check_error("a buffer", platform.buffer::<f64>(most / 8, &s), shape)?;
    check_error("page-locked", platform.pinned::<f64>(device(0), most / 8), shape)?;
    let tensor = platform.tensor::<u8>([0, 1 << 30, 4], &s)?;
    let strides = tensor.strides();
    check(*strides == [1 << 32, 4, 1], || format!("strides {strides:?}"))?;
    check(tensor.view().transpose().shape() == [4, 1 << 30, 0], || "transposed".into())?;
    check_error("reshape", tensor.reshape([0, most, most]), shape)?;
    let scalar = platform.tensor::<u8>([], &s)?;
    check((scalar.len(), scalar.rows(), scalar.cols()) == (1, 1, 1), || format!("{scalar:?}"))
}

/// The strides of a tensor without elements can be large: used as lengths they give more bytes than exist.
fn strides_as_lengths(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let shape = |error: &Error| matches!(error, Error::Shape { .. });
    for dims in [[0, 2, 1 << 30], [0, 1 << 29, 1 << 29]] {
        let empty = platform.tensor::<f64>(dims, &s)?;
        let strides = empty.strides();
        check_error("a tensor", platform.tensor::<f64>(strides, &s), shape)?;
        check_error("a tensor of small elements", platform.tensor::<u8>(strides, &s), shape)?;
        check_error("a slice of them", platform.tensor::<f64>(&strides[..], &s), shape)?;
        check_error(
            "the strides of a view",
            platform.tensor::<f64>(empty.view().strides(), &s),
            shape,
        )?;
        let other = platform.tensor::<f64>([0], &s)?;
        check_error("another shape", other.reshape(strides), shape)?;
        let of_blocks = platform.allocator("BLOCKS", device(0), MemoryLimits::blocks(4096, 2))?;
        check_error("a tensor in a block", of_blocks.tensor::<f64>(strides, &s), shape)?;
    }
    // In contrast, these strides are also valid lengths.
    let image = platform.tensor::<f64>([2, 3, 4], &s)?;
    let table = platform.tensor::<u32>(image.strides(), &s)?;
    check(table.shape() == [12, 4, 1] && table.len() == 48, || format!("{table:?}"))
}

/// Their size can't be rounded up to the driver's granularity.
fn blocks_larger_than_any_memory(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for block_bytes in [u64::MAX, u64::MAX - 100, u64::MAX - 511] {
        let limits = MemoryLimits::blocks(block_bytes, 2);
        let allocator = platform.allocator("BLOCKS", device(0), limits)?;
        check_error("a block", allocator.buffer::<f64>(1000, &s), |error| {
            matches!(error, Error::OutOfMemory { .. })
        })?;
        check(allocator.used() == 0, || format!("{} bytes are in use", allocator.used()))?;
    }
    Ok(())
}

/// Tries to allocate more memory than the device has, and then less.
fn too_much_memory(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let all = platform.device_info(device(0))?.total_memory;
    // The pool allocates in multiples of this size.
    let too_much = (usize::try_from(all)? * 2).next_multiple_of(2 << 20);
    for _ in 0..2 {
        let refused = platform.buffer::<u8>(too_much, &s);
        let text = check_error("twice the memory", refused, |error| {
            matches!(error, Error::OutOfMemory { .. })
        })?;
        check_text(&text, &["device 0", &too_much.to_string(), "drop tensors"])?;
    }
    let mut data = platform.buffer(7, &s)?;
    s.launch::<fill>(7, (&mut data, 3.0))?;
    check(s.download_blocking(&data)? == [3.0; 7], || "wrong data".into())
}

/// A platform rejects memory, streams and points of another one, and queues nothing.
fn platforms_do_not_mix(a: &Platform, b: &Platform) -> Result<(), Failed> {
    let (here, there) = (stream(a)?, stream(b)?);
    let (mut mine, mut theirs) = (a.tensor([3], &here)?, b.tensor([3], &there)?);
    here.launch::<fill>(3, (&mut mine, 1.0))?;
    there.launch::<fill>(3, (&mut theirs, 2.0))?;
    let pinned = b.pinned::<f32>(device(0), 3)?;
    let calls = [
        ("a launch", there.launch::<add_one>(3, (&mut mine,))),
        ("one foreign argument", there.launch::<slow_copy>(3, (&mut theirs, &mine, 0))),
        ("a copy from", there.copy(&mine, &mut theirs)),
        ("a copy to", there.copy(&theirs, &mut mine)),
        ("a fill", there.fill_bytes(&mut mine, 0)),
        ("an upload to", there.upload_blocking(&[0.0; 3], &mut mine)),
        ("an upload from", here.upload(&pinned, &mut mine)),
        ("a download", there.download_blocking(&mine).map(drop)),
        ("a queued download", b.download(&mine, &there).map(drop)),
        ("a foreign stream", b.download(&theirs, &here).map(drop)),
        ("a tensor", a.tensor::<f32>([1], &there).map(drop)),
        ("an address", there.read_raw(&mine, |_| ())),
        ("an address to write", there.write_raw(&mut mine, |_| ())),
        ("a point", there.wait(here.record()?)),
    ];
    for (what, result) in calls {
        check_error(what, result, |error| matches!(error, Error::ForeignPlatform { .. }))?;
    }
    let allocator = a.allocator("MINE", device(0), MemoryLimits::unbounded())?;
    let is_foreign = |error: &Error| matches!(error, Error::ForeignPlatform { .. });
    let text = check_error("an allocator", allocator.buffer::<f32>(3, &there), is_foreign)?;
    check_text(&text, &["allocator `MINE` belongs to another platform"])?;
    check(here.download_blocking(&mine)? == [1.0; 3], || "`mine` was written".into())?;
    check(there.download_blocking(&theirs)? == [2.0; 3], || "`theirs` was written".into())
}

fn devices_do_not_mix(seed: u64) -> Result<(), Failed> {
    let platform = Platform::host().seed(seed).devices(2).build()?;
    let (here, there) = (platform.default_stream(device(0))?, platform.default_stream(device(1))?);
    let mut data = platform.buffer(3, &here)?;
    here.launch::<fill>(3, (&mut data, 1.0))?;
    let wrong = |error: &Error| matches!(error, Error::WrongDevice { .. });
    let text = check_error("a launch", there.launch::<add_one>(3, (&mut data,)), wrong)?;
    check_text(
        &text,
        &["data is on device 0", "stream is on device 1", "copy the data to device 1"],
    )?;
    check_error("a copy", there.fill_bytes(&mut data, 0), wrong)?;
    check_error("a download", platform.download(&data, &there), wrong)?;
    // A point of another device is valid: order holds across devices.
    there.wait(here.record()?)?;
    check(here.download_blocking(&data)? == [1.0; 3], || "a call that failed has written".into())
}

/// When a stream can't be made, the streams made before it are available to the next pool.
fn failed_pool_keeps_no_streams(seed: u64) -> Result<(), Failed> {
    let driver = Arc::new(HostDriver::builder().seed(seed).build());
    // The platform itself makes the first stream.
    let failing = Arc::new(FailNth::new(driver, CallKind::CreateStream, 4));
    let (recorder, platform) = recorded(failing.clone())?;
    let pool =
        |streams| platform.stream_pool("POOL", &CudaStreamPool::new().reserved_size(streams));
    let refused = pool(4);
    check_error("the fourth", refused, |error| matches!(error, Error::Driver(_)))?;
    check(failing.has_failed(), || "no stream failed".into())?;
    recorder.clear();
    let _three = pool(3)?;
    let made = recorder.count(|call| matches!(call, Call::CreateStream { .. }));
    check(made == 0, || format!("{made} streams were made again"))
}

/// When memory is short, free pooled memory is returned to the driver and the allocation is tried again. Memory in use
/// is not returned.
fn pooled_memory_makes_room(seed: u64) -> Result<(), Failed> {
    const KIB: usize = 1024;
    let driver = HostDriver::builder().seed(seed).memory(64 << 10).build();
    let (recorder, platform) = recorded(Arc::new(driver))?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let mut kept = platform.buffer::<f32>(4 * KIB, &a)?;
    let mut used = platform.buffer::<f32>(4 * KIB, &b)?;
    // This work has not executed when the memory is freed.
    a.launch::<fill>(4 * KIB, (&mut kept, 1.0))?;
    b.launch::<slow_copy>(4 * KIB, (&mut used, &kept, 0))?;
    drop(kept);
    recorder.clear();
    // 32 of the 64 KiB are in use or pooled. An allocation of 48 KiB needs the pooled part.
    let mut large = platform.buffer::<f32>(12 * KIB, &b)?;
    let calls = recorder.text();
    check_text(&calls, &["free buffer", "trim"])?;
    b.launch::<fill>(12 * KIB, (&mut large, 2.0))?;
    let refused = platform.buffer::<f32>(KIB, &a);
    check_error("more", refused, |error| {
        matches!(error, Error::OutOfMemory { requested: 4096, .. })
    })?;
    check(b.download_blocking(&used)?.iter().all(|&x| x == 1.0), || "used memory was lost".into())?;
    check(a.download_blocking(&large)?.iter().all(|&x| x == 2.0), || "wrong data".into())?;
    drop(used);
    let mut again = platform.buffer::<f32>(KIB, &a)?;
    a.launch::<fill>(KIB, (&mut again, 3.0))?;
    check(a.download_blocking(&again)?.iter().all(|&x| x == 3.0), || "wrong data".into())
}

/// Counts to 3.
#[operator]
struct Source {
    #[output]
    number: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Numbers() {
        #[when(count(3))]
        let source: Source = Source::new();
        source.number >> _;
    }
}

/// A graph whose trait implementation is written by hand, and not by `graph!`.
struct ByHand(Platform);

impl Graph for ByHand {
    fn nodes(&mut self) -> Vec<&mut dyn AnyNode> {
        Vec::new()
    }

    fn platform(&self) -> &Platform {
        &self.0
    }

    type Handle = ();

    fn handle(&self) {}
}

fn workers_of_a_graph_by_hand(seed: u64) -> Result<(), Failed> {
    let mut graph = ByHand(host(seed)?);
    let refused = graph.workers(2).map(drop);
    let text = check_error("by hand", refused, |error| matches!(error, Error::Workers { .. }))?;
    check_text(&text, &["can't have these workers: it was not written by `graph!`"])?;
    check_text(&text, &["write it by `graph!`", "STREAMFLOW_WORKERS"])
}

fn impossible_workers(seed: u64) -> Result<(), Failed> {
    let mut graph = Numbers::new(&host(seed)?)?;
    let disk = Worker::new().core(0);
    let cases: [(_, &[&str]); 5] = [
        (Workers::new(0), &["there are 0", "at least 1", "`Workers::none()`"]),
        (Workers::new(2).cores([0]), &["`cores` has 1", "2 workers", "one core"]),
        (Workers::new(1).priority(Priority::Fifo(0)), &["worker `0`", "SCHED_FIFO 0", "1 to 99"]),
        (Workers::new(1).worker("disk", disk), &["`disk`", "no node has `#[worker(disk)]`"]),
        (Workers::none().cores([0]), &["`Workers::none()` takes no", "`Workers::new(1)`"]),
    ];
    for (workers, parts) in cases {
        let refused = graph.workers(workers).map(drop);
        let text = check_error("workers", refused, |error| matches!(error, Error::Workers { .. }))?;
        check_text(&text, &["the graph can't have these workers"])?;
        check_text(&text, parts)?;
    }
    let refused = graph.workers(Workers::new(1).cores([100_000])).map(drop);
    let text = check_error("a core", refused, |error| matches!(error, Error::Workers { .. }))?;
    check_text(&text, &["worker `0` can't have core 100000"])?;
    graph.run()?;
    Ok(())
}
