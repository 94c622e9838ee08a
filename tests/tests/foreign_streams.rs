//! Streams and events of other libraries, known by their handles. An operator works on a library's stream, a
//! library works on an operator's stream, and data, points and events order both. Times are measured between two
//! points of such streams.

use std::time::Duration;

use streamflow::memory::DeviceSlice;
use streamflow::platform::DeviceId;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::foreign::{self, ForeignEvent, ForeignStream};
use streamflow_tests::kernels::{add_one, fill, slow_copy, slow_fill};
use streamflow_tests::ordered::Program;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

const LEN: usize = 1003;
const SLOW: u64 = 20_000_000;

const PROGRAMS: &[(&str, Program)] = &[
    ("an_operator_works_on_a_stream_that_it_gets_by_handle", by_handle),
    ("a_library_works_on_the_stream_of_an_operator", on_ours),
    ("an_event_of_other_code_orders_both_directions", by_events),
];

pub(crate) fn suite() -> Suite {
    let suite =
        PROGRAMS.iter().fold(Suite::new(), |suite, &(name, program)| suite.ordered(name, program));
    suite
        .both("the_time_between_points_of_a_foreign_stream_and_of_ours", timed)
        .both("a_handle_of_no_stream_is_an_error", no_stream)
        .cuda("the_handles_of_default_streams_are_refused", default_streams)
        .cuda("numbers_that_are_no_handles_are_refused", no_handles)
        .devices("the_device_of_a_handle_is_found", 2, finds_device)
        .devices("an_event_of_another_device_is_not_recorded", 2, event_elsewhere)
}

fn ours(platform: &Platform, on: DeviceId) -> Result<CudaStream> {
    Ok(platform.stream_pool("OURS", &CudaStreamPool::new().device(on))?.allocate("ours")?)
}

/// Returns a tensor full of `value`, with all work on it complete and all kernels loaded.
fn filled(platform: &Platform, stream: &CudaStream, value: f32) -> Result<Tensor<f32>> {
    let mut one = platform.tensor([1], stream)?;
    let mut other = platform.tensor([1], stream)?;
    stream.launch::<slow_fill>(1, (&mut one, 0.0, 0))?;
    stream.launch::<add_one>(1, (&mut one,))?;
    stream.launch::<slow_copy>(1, (&mut other, &one, 0))?;
    let mut tensor = platform.tensor([LEN], stream)?;
    stream.launch::<fill>(LEN, (&mut tensor, value))?;
    stream.synchronize_blocking()?;
    Ok(tensor)
}

fn holds(stream: &CudaStream, data: &DeviceSlice<f32>, value: f32) -> Result<bool> {
    Ok(stream.download_blocking(data)?.iter().all(|&found| found == value))
}

/// On which stream a library works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    /// On the library's own stream, whose handle the operator has.
    Handle(u64),
    /// On the operator's stream.
    Ours,
}

/// An operator that adds one to its image, slowly. Either streamflow does it on the library's stream, or the
/// library does it on streamflow's stream.
#[operator]
struct Library {
    #[input]
    image: Tensor<f32>,
    #[output]
    result: Tensor<f32>,
    works: Where,
}

impl Compute for Library {
    fn compute(&mut self, io: LibraryIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut result = cx.tensor([image.len()], &stream)?;
        match self.works {
            Where::Handle(handle) => {
                let theirs = foreign::find(cx.platform(), handle)?;
                theirs.launch::<slow_copy>(LEN, (&mut result, &image, SLOW))?;
                theirs.launch::<add_one>(LEN, (&mut result,))?;
            }
            Where::Ours => {
                stream.launch::<slow_fill>(LEN, (&mut result, -1.0, SLOW))?;
                // The call of the library gets addresses and the handle of the stream.
                foreign::copy(cx.platform(), &stream, &image, &mut result)?;
                stream.launch::<add_one>(LEN, (&mut result,))?;
            }
        }
        io.result.emit(result)
    }
}

/// Runs one tick with an image that a stream of the test writes slowly.
fn tick(platform: &Platform, works: Where) -> Result<bool> {
    let stream = ours(platform, device(0))?;
    let mut image = filled(platform, &stream, 0.0)?;
    let mut harness = OperatorHarness::new(platform, Library::new(works))?;
    stream.launch::<slow_fill>(LEN, (&mut image, 4.0, SLOW))?;
    harness.push(|ports| &mut ports.image, image)?;
    check(harness.tick()?, || "the operator was not ready".into())?;
    let Some(result) = harness.take(|ports| &mut ports.result) else {
        return Err(Failed::msg("no message was emitted"));
    };
    let right = holds(&stream, &result.message, 5.0)?;
    harness.stop()?;
    Ok(right)
}

fn by_handle(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    tick(platform, Where::Handle(foreign.handle()))
}

fn on_ours(platform: &Platform) -> Result<bool> {
    tick(platform, Where::Ours)
}

/// The owner of a foreign stream queues a copy itself, and orders it by two events of its own.
fn by_events(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let ours = ours(platform, device(0))?;
    let before = ForeignEvent::recorded(platform, ours.raw())?;
    let mut source = filled(platform, &ours, 0.0)?;
    let mut target = filled(platform, &ours, 0.0)?;
    let copy = foreign.copy_unseen(&ours, &source, &mut target)?;
    ours.launch::<slow_fill>(LEN, (&mut source, 5.0, SLOW))?;
    ours.record_event(before.borrow())?;
    before.hold_back(foreign.raw())?;
    copy.queue()?;
    let after = ForeignEvent::recorded(platform, foreign.raw())?;
    ours.wait_for_event(after.borrow())?;
    ours.launch::<add_one>(LEN, (&mut target,))?;
    holds(&ours, &target, 6.0)
}

/// Measures times on a stream of another library: between two points of that stream, and from that stream to a
/// stream of streamflow.
fn timed(platform: &Platform) -> Result<(), Failed> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let ours = ours(platform, device(0))?;
    let theirs = foreign::find(platform, foreign.handle())?;
    let mut data = filled(platform, &theirs, 0.0)?;
    let start = theirs.record_timing()?;
    theirs.launch::<slow_fill>(LEN, (&mut data, 1.0, SLOW))?;
    let middle = theirs.record_timing()?;
    ours.launch::<slow_fill>(LEN, (&mut data, 2.0, SLOW))?;
    let end = ours.record_timing()?;
    let first = start.elapsed_blocking(&middle)?.duration();
    let second = middle.elapsed_blocking(&end)?.duration();
    let both = start.elapsed_blocking(&end)?.duration();
    check(first > Duration::ZERO && second > Duration::ZERO, || format!("{first:?}, {second:?}"))?;
    let sum = first + second;
    let difference = both.abs_diff(sum);
    // Each measured time is rounded, so the sum may differ a little.
    check(difference < Duration::from_micros(10), || format!("{both:?} in all, and {sum:?}"))?;
    // The recorded moments stay valid after the wrapper of the foreign stream is dropped.
    drop(theirs);
    let again = start.elapsed_blocking(&middle)?.duration();
    check_equal(again, first)
}

fn no_stream(platform: &Platform) -> Result<(), Failed> {
    if platform.name() == "cuda" {
        // On CUDA, using the handle of a destroyed stream is undefined behaviour, so only the simulator runs this test.
        return Ok(());
    }
    let destroyed = {
        let foreign = ForeignStream::create(platform, device(0))?;
        foreign.handle()
    };
    let default = platform.driver().default_stream(device(0)).handle();
    for handle in [destroyed, default, u64::MAX] {
        let text = check_error("no stream", foreign::find(platform, handle), |_| true)?;
        check_text(&text, &["is the handle of no stream", "keep the other library's stream"])?;
    }
    Ok(())
}

fn default_streams(platform: &Platform) -> Result<(), Failed> {
    for (handle, name) in [(0, "legacy"), (1, "legacy"), (2, "calling thread")] {
        let text = check_error("a default stream", foreign::find(platform, handle), |_| true)?;
        check_text(&text, &[name, "`Platform::default_stream`"])?;
    }
    Ok(())
}

fn no_handles(platform: &Platform) -> Result<(), Failed> {
    let stream = ours(platform, device(0))?;
    for number in [3, 7, 4095, 4097, 0x0123_4564, 1 << 56, u64::MAX] {
        for (what, used) in foreign::uses_of_a_number(platform, &stream, number) {
            let text = check_error(what, used, |_| true)?;
            check_text(
                &text,
                &[&format!("{number} is the handle of no {what}: a handle is an address")],
            )?;
        }
    }
    Ok(())
}

fn finds_device(platform: &Platform) -> Result<(), Failed> {
    for on in [device(0), device(1)] {
        let foreign = ForeignStream::create(platform, on)?;
        check_equal(foreign::find(platform, foreign.handle())?.device(), on)?;
    }
    Ok(())
}

fn event_elsewhere(platform: &Platform) -> Result<(), Failed> {
    let (near, far) = (ours(platform, device(0))?, ours(platform, device(1))?);
    let event = ForeignEvent::recorded(platform, far.raw())?;
    let text = check_error("another device", near.record_event(event.borrow()), |_| true)?;
    check_text(&text, &["an event is on device 1", "device 0"])?;
    // An event of one device may be awaited by a stream of another device.
    near.wait_for_event(event.borrow())?;
    Ok(near.synchronize_blocking()?)
}
