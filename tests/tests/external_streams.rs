//! Borrowed external streams: they are ordered by data and by points, and may be destroyed at any time. Two hazards of
//! libraries with streams (nvmath's *Stream Semantics*) do not exist here: memory that is dropped while another stream
//! reads it, and a plan that is made on one stream and executed on another.

use std::sync::Arc;

use streamflow::driver::host::HostDriver;
use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::foreign::{self, ForeignStream};
use streamflow_tests::kernels::{add_one, fill, slow_copy, slow_fill};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::ordered::Program;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_error};

const LEN: usize = 1003;
const SLOW: u64 = 20_000_000;

const PROGRAMS: &[(&str, Program)] = &[
    ("launches_on_a_foreign_stream_are_ordered_by_data", by_data),
    ("work_outside_of_streamflow_is_ordered_by_points", by_points),
    ("seed004_memory_dropped_while_another_stream_reads_it_stays_right", dropped_while_read),
    ("seed004_a_plan_of_one_stream_can_be_executed_on_another", planned_elsewhere),
    ("uses_outlive_a_destroyed_stream", destroyed),
];

pub(crate) fn suite() -> Suite {
    let suite =
        PROGRAMS.iter().fold(Suite::new(), |suite, &(name, program)| suite.ordered(name, program));
    suite
        .both("a_missing_device_is_an_error", missing)
        .both("work_of_a_stream_that_could_not_be_detached_is_an_error", not_left)
        .seeded("borrowing_a_stream_again_makes_no_events", again)
}

fn ours(platform: &Platform) -> Result<CudaStream> {
    Ok(platform.stream_pool("OURS", &CudaStreamPool::new())?.allocate("ours")?)
}

/// Returns a buffer full of `value`, with all work on it complete and all kernels loaded.
fn filled(platform: &Platform, stream: &CudaStream, value: f32) -> Result<Buffer<f32>> {
    let (mut one, mut other) = (platform.buffer(1, stream)?, platform.buffer(1, stream)?);
    stream.launch::<slow_fill>(1, (&mut one, 0.0, 0))?;
    stream.launch::<add_one>(1, (&mut one,))?;
    stream.launch::<slow_copy>(1, (&mut other, &one, 0))?;
    let mut buffer = platform.buffer(LEN, stream)?;
    stream.launch::<fill>(LEN, (&mut buffer, value))?;
    stream.synchronize_blocking()?;
    Ok(buffer)
}

fn holds(stream: &CudaStream, data: &DeviceSlice<f32>, value: f32) -> Result<bool> {
    Ok(stream.download_blocking(data)?.iter().all(|&found| found == value))
}

fn by_data(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let (ours, theirs) = (ours(platform)?, foreign.borrow(platform)?);
    let mut data = filled(platform, &ours, 0.0)?;
    let mut copy = filled(platform, &theirs, 0.0)?;
    theirs.launch::<slow_fill>(LEN, (&mut data, 7.0, SLOW))?;
    ours.launch::<add_one>(LEN, (&mut data,))?;
    let there = holds(&ours, &data, 8.0)?;
    ours.launch::<slow_fill>(LEN, (&mut data, 3.0, SLOW))?;
    theirs.launch::<slow_copy>(LEN, (&mut copy, &data, 0))?;
    Ok(there & holds(&theirs, &copy, 3.0)?)
}

/// The owner of a foreign stream queues a copy itself, between two points.
fn by_points(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let (ours, theirs) = (ours(platform)?, foreign.borrow(platform)?);
    let mut source = filled(platform, &ours, 0.0)?;
    let mut target = filled(platform, &ours, 0.0)?;
    let copy = foreign.copy_unseen(&ours, &source, &mut target)?;
    ours.launch::<slow_fill>(LEN, (&mut source, 5.0, SLOW))?;
    theirs.wait(ours.record()?)?;
    copy.queue()?;
    ours.wait(theirs.record()?)?;
    ours.launch::<add_one>(LEN, (&mut target,))?;
    holds(&ours, &target, 6.0)
}

/// `a` is allocated on one stream, read by a library on another, and dropped at once. A stream-ordered allocator
/// that did not wait for the read would give the memory out again on the first stream.
fn dropped_while_read(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let (ours, theirs) = (ours(platform)?, foreign.borrow(platform)?);
    let mut result = filled(platform, &theirs, 0.0)?;
    let a = filled(platform, &ours, 7.0)?;
    // The address is read slowly, as a library would do it.
    theirs.launch::<slow_fill>(LEN, (&mut result, -1.0, SLOW))?;
    foreign::copy(platform, &theirs, &a, &mut result)?;
    drop(a);
    let mut next = platform.buffer::<f32>(LEN, &ours)?;
    ours.launch::<fill>(LEN, (&mut next, 9.0))?;
    Ok(holds(&ours, &next, 9.0)? & holds(&theirs, &result, 7.0)?)
}

/// A plan's workspace is filled on the plan's stream. The plan is executed on another stream, and its operand is
/// then overwritten on a third.
fn planned_elsewhere(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let (s_plan, s_exec) = (ours(platform)?, foreign.borrow(platform)?);
    let s_reset = ours(platform)?;
    let mut workspace = filled(platform, &s_plan, 0.0)?;
    let mut operand = filled(platform, &s_plan, 1.0)?;
    let mut result = filled(platform, &s_exec, 0.0)?;
    s_plan.launch::<slow_fill>(LEN, (&mut workspace, 4.0, SLOW))?;
    // The execution needs the plan's workspace, and reads the operand slowly.
    s_exec.launch::<add_one>(LEN, (&mut workspace,))?;
    s_exec.launch::<slow_copy>(LEN, (&mut result, &operand, SLOW))?;
    s_reset.launch::<fill>(LEN, (&mut operand, 9.0))?;
    let reset = holds(&s_reset, &operand, 9.0)?;
    Ok(reset & holds(&s_reset, &workspace, 5.0)? & holds(&s_exec, &result, 1.0)?)
}

/// A stream is destroyed while its work runs. The writes and reads of that work stay ordered.
fn destroyed(platform: &Platform) -> Result<bool> {
    let ours = ours(platform)?;
    let mut data = filled(platform, &ours, 0.0)?;
    let source = filled(platform, &ours, 7.0)?;
    let point = {
        let foreign = ForeignStream::create(platform, device(0))?;
        let theirs = foreign.borrow(platform)?;
        theirs.launch::<slow_copy>(LEN, (&mut data, &source, SLOW))?;
        theirs.record()?
    };
    drop(source);
    let mut next = platform.buffer::<f32>(LEN, &ours)?;
    ours.launch::<fill>(LEN, (&mut next, 9.0))?;
    let right = holds(&ours, &next, 9.0)? & holds(&ours, &data, 7.0)?;
    ours.wait(point)?;
    // This stream is another one, which may have the handle of the destroyed stream.
    let foreign = ForeignStream::create(platform, device(0))?;
    let theirs = foreign.borrow(platform)?;
    theirs.launch::<add_one>(LEN, (&mut data,))?;
    Ok(right & holds(&ours, &data, 8.0)?)
}

fn missing(platform: &Platform) -> Result<(), Failed> {
    let far = ForeignStream::create(platform, device(99));
    check(far.is_err(), || "a stream was made on device 99".into())?;
    let made = platform.default_stream(device(99));
    check_error("device 99", made, |error| matches!(error, Error::NoSuchDevice { .. })).map(drop)
}

fn again(seed: u64) -> Result<(), Failed> {
    let (recorder, platform) = recorded(Arc::new(HostDriver::builder().seed(seed).build()))?;
    let foreign = ForeignStream::create(&platform, device(0))?;
    let mut data = platform.buffer(LEN, &ours(&platform)?)?;
    let events = || recorder.count(|call| matches!(call, Call::CreateEvent { .. }));
    let unwrapped = events();
    foreign.borrow(&platform)?.launch::<fill>(LEN, (&mut data, 0.0))?;
    let before = events();
    // 17 is the number that the documentation gives.
    check(before - unwrapped == 17, || format!("borrowing takes {} events", before - unwrapped))?;
    for _ in 0..10 {
        foreign.borrow(&platform)?.launch::<add_one>(LEN, (&mut data,))?;
    }
    check(events() == before, || format!("{} events more", events() - before))?;
    let theirs = foreign.borrow(&platform)?;
    let right = holds(&theirs, &data, 10.0)?;
    check(right, || "the data is wrong".into())
}

/// The record and the wait fail when the stream is detached, so nothing can be ordered after the stream's work
/// any more. A later call that needs this order returns an error.
fn not_left(on: &Platform) -> Result<(), Failed> {
    let records = Arc::new(FailNth::new(on.driver().clone(), CallKind::RecordEvent, u64::MAX));
    let waits = Arc::new(FailNth::new(records.clone(), CallKind::SynchronizeStream, u64::MAX));
    let platform = Platform::builder().driver(waits.clone())?;
    let ours = ours(&platform)?;
    let mut data = filled(&platform, &ours, 0.0)?;
    {
        let foreign = ForeignStream::create(&platform, device(0))?;
        let theirs = foreign.borrow(&platform)?;
        theirs.launch::<slow_fill>(LEN, (&mut data, 7.0, SLOW))?;
        records.fail_next();
        waits.fail_next();
    }
    let after = ours.launch::<add_one>(LEN, (&mut data,));
    check(records.has_failed() && waits.has_failed(), || "inconclusive: no call failed".into())?;
    check_error("after a stream that was lost", after, |_| true).map(drop)
}
