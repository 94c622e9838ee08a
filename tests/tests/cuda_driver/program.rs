//! The program of a trial: it makes a platform, uses each part of the platform, and drops everything.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::Duration;

use streamflow::Grid;
use streamflow::memory::MemoryLimits;
use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_tests::foreign;
use streamflow_tests::{Failed, check_equal};

use super::log;
use super::trial::LOG;

const LEN: usize = 1003;

/// A size of dynamic shared memory that a function may use only after its limit was raised.
const SHARED: usize = 64 << 10;

const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 16]);

#[kernel(unsafe image = foreign::ADD_PTX.as_bytes())]
fn add(data: &mut [u32], value: u32);

#[kernel(unsafe image = foreign::ADD_PTX.as_bytes(), entry = "add")]
fn add_again(data: &mut [u32], value: u32);

/// Runs the program twice, and writes its reports into the log of the fake CUDA. Returns an error only if writing
/// fails.
pub(crate) fn play_twice() -> Result<(), Failed> {
    let path = env::var_os(LOG).ok_or_else(|| Failed::msg("there is no log"))?;
    let mut file = OpenOptions::new().append(true).open(path)?;
    let _before = log::take();
    for round in ["first", "second"] {
        writeln!(file, "round {round}")?;
        let done = play();
        report(&mut file, done.err())?;
    }
    writeln!(file, "end")?;
    Ok(())
}

fn report(file: &mut File, returned: Option<Failed>) -> Result<(), Failed> {
    let one_line = |text: String| text.replace('\n', " ");
    if let Some(error) = returned {
        writeln!(file, "returned {}", one_line(error.to_string()))?;
    }
    for line in log::take() {
        let kind = if line.is_error { "logged" } else { "warned" };
        writeln!(file, "{kind} {}", one_line(line.text))?;
    }
    Ok(())
}

fn play() -> Result<()> {
    let platform = Platform::builder().race_check(false).spin(Duration::ZERO).cuda()?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().reserved_size(1).max_size(2))?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let data = computed(&platform, &a, &b)?;
    between_devices(&platform, &a, &data)?;
    green(&platform, &a, &data)?;
    let start = a.record_timing()?;
    let time = start.elapsed_blocking(&a.record_timing()?)?.duration();
    check_equal(time, Duration::from_millis(1))?;
    check_equal(foreign::host_function(&**platform.driver(), a.raw())?, true)?;
    foreign::wait_for_device(&**platform.driver(), a.raw())?;
    let _found = foreign::device_of(&platform, a.raw().handle())?;
    in_a_graph(&platform, &a)?;
    in_freed_room(&platform, &a)?;
    drop(data);
    check_equal((a.is_complete()?, b.is_complete()?), (true, true))?;
    platform.default_stream(device(0))?.synchronize_blocking()?;
    platform.driver().trim(device(0), 0)?;
    Ok(())
}

/// Uploads, launches a kernel and copies, on two streams.
fn computed(platform: &Platform, a: &CudaStream, b: &CudaStream) -> Result<Buffer<u32>> {
    let mut source = platform.pinned::<u32>(device(0), LEN)?;
    source.as_mut_slice_blocking()?.fill(3);
    let mut data = platform.buffer::<u32>(LEN, a)?;
    a.fill_bytes(&mut data, 1)?;
    a.upload(&source, &mut data)?;
    let add = foreign::module(platform, device(0), foreign::ADD_PTX)?.function("add")?;
    foreign::launch_add(b, &add, &mut data, 4)?;
    let grid = Grid::elements(LEN).shared_bytes(SHARED);
    foreign::launch_add_on(a, &add, grid, &mut data, 5)?;
    let mut copy = platform.buffer::<u32>(LEN, b)?;
    b.copy(&data, &mut copy)?;
    expect(platform.download(&copy, b)?.wait_blocking()?)?;
    // Both kernels have one image, which is loaded once.
    a.launch::<add>(LEN, (&mut data, 1))?;
    b.launch::<add_again>(LEN, (&mut data, 2))?;
    check_equal(a.download_blocking(&data)?, vec![15; LEN])?;
    a.upload_blocking(&vec![12; LEN], &mut data)?;
    expect(&a.download_blocking(&data)?)?;
    rows(platform, a, &data)?;
    Ok(data)
}

/// Copies from dense memory to padded rows, between padded rows, and back.
fn rows(platform: &Platform, a: &CudaStream, data: &Buffer<u32>) -> Result<()> {
    let shape = [17, LEN / 17];
    let mut source = platform.pinned::<u32>(device(0), LEN)?;
    source.as_mut_slice_blocking()?.fill(12);
    let [mut one, mut other] =
        [platform.pitched_tensor(shape, a)?, platform.pitched_tensor(shape, a)?];
    a.upload(&source, &mut one)?;
    a.copy(&one.view(), &mut other.view_mut())?;
    expect(platform.download(&other, a)?.wait_blocking()?)?;
    let mut dense = platform.tensor(shape, a)?;
    a.copy(data, &mut dense)?;
    a.copy(&dense, &mut other)?;
    expect(&a.download_blocking(&other)?)
}

/// Captures each kind of work in a CUDA graph, and launches the graph twice.
fn in_a_graph(platform: &Platform, a: &CudaStream) -> Result<()> {
    let [mut data, mut copy] = [platform.buffer::<u32>(LEN, a)?, platform.buffer::<u32>(LEN, a)?];
    let mut result = platform.pinned::<u32>(device(0), LEN)?;
    result.as_mut_slice_blocking()?.fill(0);
    foreign::graph::twice(platform, a, [&mut data, &mut copy], result.as_mut_slice_blocking()?)?;
    // The buffer was filled with ones, and 4 was added. Each launch of the graph begins with the fill.
    check_equal(result.as_slice_blocking()?, &[0x0101_0105; LEN][..])
}

/// Frees a buffer of an allocator and allocates a larger one in its memory, in stream order.
fn in_freed_room(platform: &Platform, a: &CudaStream) -> Result<()> {
    let limits = MemoryLimits::stream_ordered().max_size(8192);
    let allocator = platform.allocator("ROOM", device(0), limits)?;
    drop(allocator.buffer::<u32>(1024, a)?);
    let mut data = allocator.buffer::<u32>(2048, a)?;
    a.fill_bytes(&mut data, 1)?;
    check_equal(a.download_blocking(&data)?, vec![0x0101_0101; 2048])?;
    Ok(())
}

fn between_devices(platform: &Platform, near: &CudaStream, data: &Buffer<u32>) -> Result<()> {
    let far = platform.stream_pool("FAR", &CudaStreamPool::new().device(device(1)))?;
    let far = far.allocate("far")?;
    let mut there = platform.buffer::<u32>(LEN, &far)?;
    far.wait(near.record()?)?;
    far.copy_peer(data, &mut there)?;
    expect(&far.download_blocking(&there)?)
}

fn green(platform: &Platform, near: &CudaStream, data: &Buffer<u32>) -> Result<()> {
    let pool = platform.stream_pool("GREEN", &CudaStreamPool::new().on(GREEN.context(1)))?;
    let green = pool.allocate("green")?;
    green.wait(near.record()?)?;
    expect(platform.download(data, &green)?.wait_blocking()?)
}

fn expect(values: &[u32]) -> Result<()> {
    check_equal(values, &[12; LEN][..])
}
