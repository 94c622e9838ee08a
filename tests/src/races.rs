//! Programs in which one missing dependency makes wrong data. Each program is right, and must be wrong when a driver
//! drops its waits.
//!
//! Each returns whether the data was right. The slow side is queued first, and the data of the fast side is read first,
//! so that only the dependency between them orders them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;
use streamflow::stream::StreamFlags;
use streamflow::testing;

use crate::foreign;
use crate::kernels::{add_one, slow_copy, slow_fill};
pub use crate::ordered::Program;

/// The length of a buffer: no multiple of a warp, a block or a granule.
const LEN: usize = 1003;

/// A number of clock cycles that takes much longer than a launch: about 10 ms on a GPU.
const SLOW: u64 = 20_000_000;

/// All programs, named after the laws of streamflow that they test.
pub const ALL: &[(&str, Program)] = &[
    ("law7_two_readers_then_a_write", two_readers_then_a_write),
    ("law7_two_readers_then_drop_and_reuse", two_readers_then_drop_and_reuse),
    ("law7_allocated_on_one_stream_written_on_another", allocated_here_written_there),
    ("law7_kept_for_the_next_tick", kept_for_the_next_tick),
    ("law7_moved_to_an_extra_stream", moved_to_an_extra_stream),
    ("law7_raw_addresses", raw_addresses),
    ("law9_forgotten_guard", forgotten_guard),
    ("law9_panic_after_a_launch", panic_after_a_launch),
    ("law9_error_after_a_launch", error_after_a_launch),
    ("law9_drop_on_another_thread", drop_on_another_thread),
];

/// Tests the barrier of the legacy default stream, which CUDA makes and not streamflow: even without waits, work on the
/// default stream is ordered with a `Blocking` stream, and not with a `NonBlocking` one. Returns whether the default
/// stream read the data that the other stream wrote.
///
/// # Errors
/// Those of the platform.
pub fn barrier(platform: &Platform, flags: StreamFlags) -> Result<bool> {
    let pool = platform.stream_pool("BARRIER", &CudaStreamPool::new().flags(flags))?;
    let (a, default) = (pool.allocate("a")?, platform.default_stream(device(0))?);
    let mut data = filled(platform, &a, 0.0)?;
    let mut copy = filled(platform, &default, 0.0)?;
    a.launch::<slow_fill>(LEN, (&mut data, 7.0, SLOW))?;
    default.launch::<slow_copy>(LEN, (&mut copy, &data, 0))?;
    holds(&default, &copy, 7.0)
}

struct Streams {
    a: CudaStream,
    b: CudaStream,
    c: CudaStream,
}

fn streams(platform: &Platform) -> Result<Streams> {
    let pool = platform.stream_pool("RACES", &CudaStreamPool::new().max_size(3))?;
    Ok(Streams { a: pool.allocate("a")?, b: pool.allocate("b")?, c: pool.allocate("c")? })
}

/// Loads the kernels before a program starts: loading a kernel may wait for running kernels, which would hide a missing
/// dependency.
fn load_kernels(platform: &Platform, stream: &CudaStream) -> Result<()> {
    // These buffers have a different size from the programs' buffers, so that the programs don't reuse their memory.
    let (mut one, mut other) = (platform.buffer(1, stream)?, platform.buffer(1, stream)?);
    stream.launch::<slow_fill>(1, (&mut one, 0.0, 0))?;
    stream.launch::<add_one>(1, (&mut one,))?;
    Ok(stream.launch::<slow_copy>(1, (&mut other, &one, 0))?)
}

/// Returns a buffer full of `value`. The fill is complete when this function returns.
fn filled(platform: &Platform, stream: &CudaStream, value: f32) -> Result<Buffer<f32>> {
    load_kernels(platform, stream)?;
    let mut buffer = platform.buffer(LEN, stream)?;
    stream.launch::<slow_fill>(LEN, (&mut buffer, value, 0))?;
    stream.synchronize_blocking()?;
    Ok(buffer)
}

fn holds(stream: &CudaStream, buffer: &DeviceSlice<f32>, value: f32) -> Result<bool> {
    Ok(stream.download_blocking(buffer)?.iter().all(|&x| x == value))
}

/// A hazard that cudarc has: cudarc keeps one read event per buffer, so the faster of two readers overwrites the event of
/// the slower one.
fn two_readers_then_a_write(platform: &Platform) -> Result<bool> {
    let Streams { a, b, c } = streams(platform)?;
    let mut source = filled(platform, &c, 7.0)?;
    let (mut slow, mut fast) = (filled(platform, &a, 0.0)?, filled(platform, &b, 0.0)?);
    a.launch::<slow_copy>(LEN, (&mut slow, &source, SLOW))?;
    b.launch::<slow_copy>(LEN, (&mut fast, &source, 0))?;
    c.launch::<slow_fill>(LEN, (&mut source, 9.0, 0))?;
    Ok(holds(&c, &source, 9.0)? & holds(&b, &fast, 7.0)? & holds(&a, &slow, 7.0)?)
}

fn two_readers_then_drop_and_reuse(platform: &Platform) -> Result<bool> {
    let Streams { a, b, c } = streams(platform)?;
    let source = filled(platform, &c, 7.0)?;
    let (mut slow, mut fast) = (filled(platform, &a, 0.0)?, filled(platform, &b, 0.0)?);
    a.launch::<slow_copy>(LEN, (&mut slow, &source, SLOW))?;
    b.launch::<slow_copy>(LEN, (&mut fast, &source, 0))?;
    let reused = reuse(platform, &c, || drop(source))?;
    Ok(reused & holds(&b, &fast, 7.0)? & holds(&a, &slow, 7.0)?)
}

/// Calls `release`, which drops memory, then allocates and overwrites the same memory on `stream`.
fn reuse(platform: &Platform, stream: &CudaStream, release: impl FnOnce()) -> Result<bool> {
    release();
    let mut next = platform.buffer::<f32>(LEN, stream)?;
    stream.launch::<slow_fill>(LEN, (&mut next, 9.0, 0))?;
    holds(stream, &next, 9.0)
}

fn allocated_here_written_there(platform: &Platform) -> Result<bool> {
    let Streams { a, b, .. } = streams(platform)?;
    let first = filled(platform, &a, 7.0)?;
    let mut copy = filled(platform, &a, 0.0)?;
    a.launch::<slow_copy>(LEN, (&mut copy, &first, SLOW))?;
    drop(first);
    // A free in stream order makes the memory free on `a` only.
    let mut second = platform.buffer::<f32>(LEN, &a)?;
    b.launch::<slow_fill>(LEN, (&mut second, 9.0, 0))?;
    let written = holds(&b, &second, 9.0)?;
    a.synchronize_blocking()?;
    Ok(written & holds(&a, &copy, 7.0)? & holds(&b, &second, 9.0)?)
}

fn kept_for_the_next_tick(platform: &Platform) -> Result<bool> {
    let Streams { a, b, .. } = streams(platform)?;
    let mut kept = filled(platform, &a, 0.0)?;
    let mut right = true;
    for tick in 1..4 {
        a.launch::<slow_fill>(LEN, (&mut kept, tick as f32, SLOW))?;
        let mut seen = platform.buffer::<f32>(LEN, &b)?;
        b.launch::<slow_copy>(LEN, (&mut seen, &kept, 0))?;
        right &= holds(&b, &seen, tick as f32)?;
    }
    Ok(right)
}

fn moved_to_an_extra_stream(platform: &Platform) -> Result<bool> {
    let Streams { a, b, .. } = streams(platform)?;
    let mut moved = filled(platform, &a, 0.0)?;
    a.launch::<slow_fill>(LEN, (&mut moved, 7.0, SLOW))?;
    b.launch::<add_one>(LEN, (&mut moved,))?;
    let there = holds(&b, &moved, 8.0)?;
    a.launch::<add_one>(LEN, (&mut moved,))?;
    Ok(there & holds(&a, &moved, 9.0)?)
}

/// Work outside of streamflow whose uses are registered is ordered like launches: its read comes after the earlier write
/// and before the later one.
fn raw_addresses(platform: &Platform) -> Result<bool> {
    let Streams { a, b, c } = streams(platform)?;
    let mut source = filled(platform, &a, 0.0)?;
    let mut copy = filled(platform, &b, 0.0)?;
    a.launch::<slow_fill>(LEN, (&mut source, 7.0, SLOW))?;
    foreign::copy(platform, &b, &source, &mut copy)?;
    foreign::fill(platform, &c, &mut source, 0)?;
    Ok(holds(&c, &source, 0.0)? & holds(&b, &copy, 7.0)?)
}

#[allow(clippy::forget_non_drop, reason = "the test shows that forgetting a view skips nothing")]
fn forgotten_guard(platform: &Platform) -> Result<bool> {
    let Streams { a, c, .. } = streams(platform)?;
    let source = filled(platform, &c, 7.0)?;
    let mut slow = filled(platform, &a, 0.0)?;
    let view = source.slice(..);
    if let Some(view) = &view {
        a.launch::<slow_copy>(LEN, (&mut slow, view, SLOW))?;
    }
    std::mem::forget(view);
    let reused = reuse(platform, &c, || drop(source))?;
    Ok(reused & holds(&a, &slow, 7.0)?)
}

fn panic_after_a_launch(platform: &Platform) -> Result<bool> {
    let Streams { a, c, .. } = streams(platform)?;
    let source = filled(platform, &c, 7.0)?;
    let mut slow = filled(platform, &a, 0.0)?;
    let hook = AssertUnwindSafe(|| -> Result<()> {
        let source = source;
        a.launch::<slow_copy>(LEN, (&mut slow, &source, SLOW))?;
        // `resume_unwind` prints no message in the test's output, unlike `panic!`.
        std::panic::resume_unwind(Box::new("in the middle of a hook"));
    });
    let unwound = catch_unwind(hook).is_err();
    let reused = reuse(platform, &c, || ())?;
    Ok(unwound & reused & holds(&a, &slow, 7.0)?)
}

fn error_after_a_launch(platform: &Platform) -> Result<bool> {
    let Streams { a, c, .. } = streams(platform)?;
    let source = filled(platform, &c, 7.0)?;
    let mut slow = filled(platform, &a, 0.0)?;
    let mut hook = |source: Buffer<f32>| -> Result<(), Error> {
        a.launch::<slow_copy>(LEN, (&mut slow, &source, SLOW))?;
        let mut short = platform.buffer::<f32>(1, &a)?;
        a.copy(&source, &mut short)
    };
    let failed = matches!(hook(source), Err(Error::LengthMismatch { .. }));
    let reused = reuse(platform, &c, || ())?;
    Ok(failed & reused & holds(&a, &slow, 7.0)?)
}

fn drop_on_another_thread(platform: &Platform) -> Result<bool> {
    let Streams { a, c, .. } = streams(platform)?;
    let source = filled(platform, &c, 7.0)?;
    let mut slow = filled(platform, &a, 0.0)?;
    a.launch::<slow_copy>(LEN, (&mut slow, &source, SLOW))?;
    let joined = testing::scope(|scope| scope.spawn(move || drop(source)).join().is_ok());
    let reused = reuse(platform, &c, || ())?;
    Ok(joined & reused & holds(&a, &slow, 7.0)?)
}
