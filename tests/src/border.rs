//! Programs at the border to cudarc: calls that are refused, and calls that meet cudarc's own actions in drops, in
//! captures and without its event tracking. They run on a GPU, and on the `libcuda` that the tests provide.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use streamflow::cudarc::driver::sys::{CUgraphInstantiate_flags, CUresult, CUstreamCaptureMode};
use streamflow::cudarc::driver::{CudaContext, CudaSlice, CudaStream as Theirs, DriverError};
use streamflow::memory::{ForeignCounts, foreign_counts};
use streamflow::prelude::*;

use crate::foreign::{external, for_cudarc, untracked};
use crate::{Failed, check, check_equal, check_error, check_text};

const LEN: usize = 1024;

/// The `f32` whose four bytes are all 1, as a fill with the byte 1 makes it.
const ONES: f32 = f32::from_bits(0x0101_0101);

/// A program at the border. When it ends, neither side has memory of the other side.
pub type Program = fn(&Platform) -> Result<(), Failed>;

/// The programs, each with a name that says what it shows.
pub const PROGRAMS: &[(&str, Program)] = &[
    ("a_context_of_cudarc_that_is_not_the_primary_one_is_refused", other_contexts),
    ("an_external_stream_is_no_stream_for_cudarc", external_for_cudarc),
    ("an_empty_slice_and_an_empty_tensor_cross_the_border", empty),
    ("a_stream_of_cudarc_that_is_captured_is_refused", captured),
    ("a_capture_that_begins_in_a_claim_is_an_error", captured_in_a_claim),
    ("an_error_that_cudarc_keeps_loses_no_memory", kept_errors),
    ("a_slice_that_cudarc_does_not_track_is_ordered_on_the_stream_of_its_view", untracked_slices),
    ("a_stream_for_cudarc_outlives_its_pool_and_its_platform", outliving),
];

/// Converts the result of a call of cudarc.
///
/// # Errors
/// The name of cudarc's error.
pub fn cudarc<T>(result: Result<T, DriverError>) -> Result<T, Failed> {
    result.map_err(|error| Failed::msg(format!("cudarc returned {:?}", error.0)))
}

/// Waits until no more memory is across the border than in `before`.
///
/// # Errors
/// More memory than before is still across the border.
pub fn given_back(before: ForeignCounts) -> Result<(), Failed> {
    let end = Instant::now() + Duration::from_secs(10);
    let is_back = |now: ForeignCounts| now.adopted <= before.adopted && now.lent <= before.lent;
    while !is_back(foreign_counts()) && Instant::now() < end {
        thread::yield_now();
    }
    let after = foreign_counts();
    check(is_back(after) && after.leaked == before.leaked, || format!("{before:?}, then {after:?}"))
}

fn ours(platform: &Platform) -> Result<CudaStream> {
    Ok(platform.stream_pool("OURS", &CudaStreamPool::new().max_size(1))?.allocate("ours")?)
}

/// Returns a tensor full of [`ONES`], with its work complete.
fn ones(platform: &Platform, stream: &CudaStream) -> Result<Tensor<f32>> {
    let mut tensor = platform.tensor([LEN], stream)?;
    stream.fill_bytes(&mut tensor, 1)?;
    stream.synchronize_blocking()?;
    Ok(tensor)
}

fn slice(on: &Arc<Theirs>, value: f32) -> Result<CudaSlice<f32>, Failed> {
    let slice = cudarc(on.clone_htod(&[value; LEN]))?;
    cudarc(on.synchronize())?;
    Ok(slice)
}

/// Fails unless the call was refused for this reason.
fn refused<T>(what: &str, result: Result<T>, reason: &str) -> Result<(), Failed> {
    let result = result.map(drop);
    let text = check_error(what, result, |error| matches!(error, Error::Exchange { .. }))?;
    check_text(&text, &[reason])
}

/// Makes each call of streamflow with a stream of cudarc, and checks that it is refused. Then drops cudarc's slice and
/// one tensor of streamflow.
fn each_call_is_refused(
    platform: &Platform,
    (ours, x, y): (&CudaStream, &mut Tensor<f32>, Tensor<f32>),
    (theirs, slice): (&Arc<Theirs>, CudaSlice<f32>),
    reason: &str,
) -> Result<(), Failed> {
    let mut is_called = false;
    let read = ours.read_cudarc(x, theirs, |_| is_called = true);
    refused("a view", read.map_err(Into::into), reason)?;
    let written = ours.write_cudarc(x, theirs, |_| is_called = true);
    refused("a view to be written", written.map_err(Into::into), reason)?;
    check(!is_called, || "a view was made".into())?;
    refused("a slice of a tensor", y.into_cudarc(ours, theirs).map_err(Into::into), reason)?;
    refused("an order", ours.after_cudarc(theirs).map_err(Into::into), reason)?;
    refused("an order back", ours.before_cudarc(theirs).map_err(Into::into), reason)?;
    refused("an external stream", external(platform, theirs), reason)?;
    refused("a slice", platform.adopt_cudarc(slice, [LEN]).map_err(Into::into), reason)
}

fn other_contexts(platform: &Platform) -> Result<(), Failed> {
    let (reason, before) = ("its context is not the primary one", foreign_counts());
    let ours = ours(platform)?;
    let (mut x, y) = (ones(platform, &ours)?, ones(platform, &ours)?);
    let other = cudarc(CudaContext::new_non_primary(0, 0))?;
    let theirs = cudarc(other.new_stream())?;
    let given = slice(&theirs, 1.0)?;
    each_call_is_refused(platform, (&ours, &mut x, y), (&theirs, given), reason)?;
    refused("a stream", for_cudarc(&ours, &other), reason)?;
    given_back(before)?;
    check_equal(ours.download_blocking(&x)?, vec![ONES; LEN])?;
    cudarc(other.check_err())
}

/// cudarc's slices keep the stream that they were allocated on, but that stream's owner may destroy it first.
fn external_for_cudarc(platform: &Platform) -> Result<(), Failed> {
    let context = cudarc(CudaContext::new(0))?;
    let outside = external(platform, &cudarc(context.new_stream())?)?;
    refused("a stream", for_cudarc(&outside, &context), "its owner may destroy it")?;
    // The device's default stream is accepted, since it lives as long as the device.
    drop(for_cudarc(&platform.default_stream(device(0))?, &context)?);
    drop(outside);
    cudarc(context.check_err())
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    let before = foreign_counts();
    let ours = ours(platform)?;
    let context = cudarc(CudaContext::new(0))?;
    let theirs = cudarc(context.new_stream())?;
    // Returns the error that cudarc has stored in its context, if any: an error in a drop is stored there, since a drop
    // can't return it.
    drop(cudarc(theirs.null::<f32>())?);
    let own = context.check_err().map_err(|error| error.0);
    let mut x = platform.tensor::<f32>([0, 3], &ours)?;
    check_equal(ours.read_cudarc(&x, &theirs, |view| view.len())?, 0)?;
    check_equal(ours.write_cudarc(&mut x, &theirs, |view| view.len())?, 0)?;
    let lent = x.into_cudarc(&ours, &theirs)?;
    check_equal(lent.len(), 0)?;
    drop(lent);
    let adopted = platform.adopt_cudarc(cudarc(theirs.null::<f32>())?, [2, 0])?;
    check_equal(ours.download_blocking(&adopted)?, vec![])?;
    drop(adopted);
    let short = platform.adopt_cudarc(cudarc(theirs.null::<f32>())?, [1]);
    check_error("one element", short, |error| matches!(error, Error::Shape { .. }))?;
    given_back(before)?;
    check_equal(context.check_err().map_err(|error| error.0), own)
}

const FLAGS: CUgraphInstantiate_flags =
    CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;

fn begin_capture(theirs: &Theirs) -> Result<(), DriverError> {
    theirs.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
}

/// Exchanges memory while cudarc captures a graph. No event may lead into the captured graph or out of it. Slices that
/// are dropped during the capture are freed afterwards.
fn captured(platform: &Platform) -> Result<(), Failed> {
    let (reason, before) = ("the stream is being captured", foreign_counts());
    let ours = ours(platform)?;
    let (mut x, y) = (ones(platform, &ours)?, ones(platform, &ours)?);
    // Event tracking is off, since cudarc's events of slices would lead into the captured graph.
    let context = cudarc(untracked())?;
    let theirs = cudarc(context.new_stream())?;
    let (mut data, other) = (slice(&theirs, 1.0)?, slice(&theirs, 2.0)?);
    let adopted = platform.adopt_cudarc(slice(&theirs, 3.0)?, [LEN])?;
    cudarc(begin_capture(&theirs))?;
    each_call_is_refused(platform, (&ours, &mut x, y), (&theirs, other), reason)?;
    drop(adopted);
    cudarc(theirs.memset_zeros(&mut data))?;
    let graph = cudarc(theirs.end_capture(FLAGS))?;
    cudarc(graph.ok_or_else(|| Failed::msg("there is no graph"))?.launch())?;
    check_equal(cudarc(theirs.clone_dtoh(&data))?, vec![0.0; LEN])?;
    given_back(before)?;
    cudarc(context.check_err())
}

/// Captures a graph while a slice is claimed: the graph could use the view after the claim has ended.
fn captured_in_a_claim(platform: &Platform) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let x = ones(platform, &ours)?;
    let context = cudarc(untracked())?;
    let theirs = cudarc(context.new_stream())?;
    let mut begun = Ok(());
    let read = ours.read_cudarc(&x, &theirs, |_| begun = begin_capture(&theirs));
    refused("a claim", read.map_err(Into::into), "the stream is being captured")?;
    cudarc(begun)?;
    // On a GPU this capture has already failed, since the host has waited for all work during it.
    drop(theirs.end_capture(FLAGS));
    check_equal(ours.download_blocking(&x)?, vec![ONES; LEN])?;
    cudarc(context.check_err())
}

/// Each call of cudarc that makes a context current returns the error stored in the context, and does nothing else.
fn kept_errors(platform: &Platform) -> Result<(), Failed> {
    let before = foreign_counts();
    let ours = ours(platform)?;
    let (mut x, y) = (ones(platform, &ours)?, ones(platform, &ours)?);
    let context = cudarc(CudaContext::new(0))?;
    let theirs = cudarc(context.new_stream())?;
    let code = CUresult::CUDA_ERROR_NOT_PERMITTED;
    let keep = || context.record_err::<()>(Err(DriverError(code)));
    let reason = "CUDA_ERROR_NOT_PERMITTED";

    let on_ours = for_cudarc(&ours, &context)?;
    for on in [&theirs, &*on_ours] {
        keep();
        let mut is_called = false;
        let read = ours.read_cudarc(&x, on, |_| is_called = true);
        refused("a view", read.map_err(Into::into), reason)?;
        check(!is_called, || "a view was made".into())?;
    }
    let read = ours.read_cudarc(&x, &theirs, |_| keep());
    refused("an error in a claim", read.map_err(Into::into), reason)?;
    // The stored error also fails a call on a stream that needs no event.
    let written = ours.write_cudarc(&mut x, &on_ours, |_| keep());
    refused("an error in a claim of one stream", written.map_err(Into::into), reason)?;
    drop(on_ours);
    cudarc(context.check_err())?;

    // A call that takes data would lose the data by an error of an earlier call, and a drop can't return an error. So
    // both leave the stored error where it is.
    let slice = slice(&theirs, 1.0)?;
    keep();
    let adopted = platform.adopt_cudarc(slice, [LEN])?;
    check_equal(context.check_err(), Err(DriverError(code)))?;
    check_equal(ours.download_blocking(&adopted)?, vec![1.0; LEN])?;
    keep();
    let lent = y.into_cudarc(&ours, &theirs)?;
    check_equal(context.check_err(), Err(DriverError(code)))?;
    check_equal(cudarc(theirs.clone_dtoh(&*lent))?, vec![ONES; LEN])?;
    keep();
    drop((adopted, lent));
    drop(ones(platform, &ours)?);
    given_back(before)?;
    check_equal(context.check_err(), Err(DriverError(code)))
}

fn untracked_slices(platform: &Platform) -> Result<(), Failed> {
    let before = foreign_counts();
    let ours = ours(platform)?;
    let context = cudarc(untracked())?;
    let (theirs, fresh) = (cudarc(context.new_stream())?, cudarc(context.new_stream())?);
    let another = cudarc(context.new_stream())?;
    let mut x = platform.adopt_cudarc(cudarc(theirs.clone_htod(&[7.0; LEN]))?, [LEN])?;
    let copy = cudarc(ours.read_cudarc(&x, &fresh, |view| fresh.clone_dtod(&view))?)?;
    check_equal(cudarc(fresh.clone_dtoh(&copy))?, vec![7.0; LEN])?;
    cudarc(ours.write_cudarc(&mut x, &fresh, |mut view| fresh.memset_zeros(&mut view))?)?;
    check_equal(ours.download_blocking(&x)?, vec![0.0; LEN])?;
    // The program makes another stream wait.
    ours.before_cudarc(&another)?;
    let copy = cudarc(ours.read_cudarc(&x, &theirs, |view| another.clone_dtod(&view))?)?;
    ours.after_cudarc(&another)?;
    check_equal(cudarc(another.clone_dtoh(&copy))?, vec![0.0; LEN])?;
    let lent = x.into_cudarc(&ours, &another)?;
    check_equal(cudarc(another.clone_dtoh(&*lent))?, vec![0.0; LEN])?;
    drop(lent);
    drop(ones(platform, &ours)?);
    given_back(before)?;
    cudarc(context.check_err())
}

/// CUDA's stream has one owner. The owner lives as long as cudarc's stream object, and then destroys CUDA's stream.
fn outliving(platform: &Platform) -> Result<(), Failed> {
    let context = cudarc(CudaContext::new(0))?;
    let first = Platform::builder().race_check(false).driver(platform.driver().clone())?;
    let pool = first.stream_pool("LENT", &CudaStreamPool::new().max_size(1))?;
    let stream = pool.allocate("lent")?;
    let handle = stream.raw().handle();
    let slice = {
        let lent = for_cudarc(&stream, &context)?;
        check_equal(lent.cu_stream() as u64, handle)?;
        cudarc(lent.clone_htod(&[7.0_f32; LEN]))?
    };
    drop((stream, pool, first));
    check_equal(
        cudarc(slice.stream().clone_dtod(&slice).and_then(|copy| copy.stream().clone_dtoh(&copy)))?,
        vec![7.0; LEN],
    )?;
    // The streams whose owners are gone are next examined when the platform ends.
    drop(slice);
    cudarc(context.check_err())
}
