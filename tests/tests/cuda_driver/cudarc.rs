//! Tests memory and streams that cross the border to cudarc, on the tests' `libcuda`. That library refuses calls without
//! a current context, and notes each use of memory by a stream that has not waited for the memory's allocation. So these
//! tests show the order of streams; `cudarc_memory.rs` shows the order of data, on a GPU.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use streamflow::cudarc::driver::sys::CUresult;
use streamflow::cudarc::driver::{CudaContext, CudaStream as Theirs, DriverError};
use streamflow::memory::foreign_counts;
use streamflow::prelude::*;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_tests::border::{PROGRAMS, cudarc};
use streamflow_tests::foreign::{
    adopted_at_once, external, for_cudarc, unseen, untracked as untracked_context,
};
use streamflow_tests::{Failed, check, check_equal};

use super::library;
use super::trial::{self, LOG, Log};

/// The role of the child processes that run these tests.
pub(crate) const ROLE: &str = "cudarc";

/// The variable with the name of the process's program.
const PROGRAM: &str = "STREAMFLOW_TEST_PROGRAM";

const LEN: usize = 1024;

/// The elements that a fill with the byte 1 makes.
const ONES: f32 = f32::from_bits(0x0101_0101);

/// Runs a program in the child process.
pub(crate) fn play() -> Result<(), Failed> {
    let path = env::var_os(LOG).ok_or_else(|| Failed::msg("there is no log"))?;
    let mut file = OpenOptions::new().append(true).open(path)?;
    writeln!(file, "round first")?;
    let driver = Arc::new(CudaDriver::with_devices(&[0])?);
    let platform = Platform::builder().race_check(false).driver(driver)?;
    match &*env::var(PROGRAM)? {
        "exchange" => exchange(&platform)?,
        "adoption" => adoption(&platform, true)?,
        "adoption without tracking" => adoption(&platform, false)?,
        "claim of the thread's stream" => claim_of_the_thread(&platform, true)?,
        "claim without tracking" => claim_of_the_thread(&platform, false)?,
        "old driver" => old_driver(&platform)?,
        "one claim" => claims(&platform, 1)?,
        "three claims" => claims(&platform, 3)?,
        "lost" => lost(&platform)?,
        "way back" => way_back(&platform, true)?,
        "no way back" => way_back(&platform, false)?,
        "forgotten" => forgotten(&platform)?,
        "early view" => early_view(&platform)?,
        "early slice" => early_slice(&platform)?,
        "refused" => refused(&platform)?,
        "claim" => claim(&platform, false)?,
        "claim with an error" => claim(&platform, true)?,
        name => {
            let program = PROGRAMS.iter().find(|(known, _)| *known == name);
            program.ok_or_else(|| Failed::msg(format!("no program {name}")))?.1(&platform)?;
        }
    }
    drop(platform);
    writeln!(file, "end")?;
    Ok(())
}

fn ours(platform: &Platform) -> Result<CudaStream> {
    Ok(platform.stream_pool("OURS", &CudaStreamPool::new().max_size(1))?.allocate("ours")?)
}

fn ones(platform: &Platform, stream: &CudaStream) -> Result<Tensor<f32>> {
    let mut tensor = platform.tensor([LEN], stream)?;
    stream.fill_bytes(&mut tensor, 1)?;
    Ok(tensor)
}

/// Drops a value on a new thread, on which no context is current.
fn drop_elsewhere(value: impl Send + 'static) -> Result<(), Failed> {
    thread::spawn(move || drop(value)).join().map_err(|_| Failed::msg("the drop panicked"))
}

/// Exchanges memory and streams in each possible way, in both directions.
fn exchange(platform: &Platform) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let context = cudarc(CudaContext::new(0))?;
    let theirs = cudarc(context.new_stream())?;

    // The views are used on one stream of cudarc, on another, and on the thread's default stream.
    let mut x = ones(platform, &ours)?;
    let (another, threads) = (cudarc(context.new_stream())?, context.per_thread_stream());
    for on in [&theirs, &another, &threads] {
        let copy = ours.read_cudarc(&x, &theirs, |view| on.clone_dtod(&view))?;
        check_equal(cudarc(on.clone_dtoh(&cudarc(copy)?))?, vec![ONES; LEN])?;
    }
    let copy = cudarc(ours.read_cudarc(&x, &threads, |view| threads.clone_dtod(&view))?)?;
    check_equal(cudarc(threads.clone_dtoh(&copy))?, vec![ONES; LEN])?;
    cudarc(ours.write_cudarc(&mut x, &theirs, |mut view| theirs.memset_zeros(&mut view))?)?;
    check_equal(ours.download_blocking(&x)?, vec![0.0; LEN])?;

    // A slice becomes a tensor, which is dropped on another thread. A view of the tensor is used on a stream that has not
    // waited for the slice's allocation.
    for stream in [&theirs, &threads] {
        let tensor = platform.adopt_cudarc(cudarc(stream.clone_htod(&[7.0; LEN]))?, [LEN])?;
        let fresh = cudarc(context.new_stream())?;
        let copy = ours.read_cudarc(&tensor, &fresh, |view| fresh.clone_dtod(&view))?;
        check_equal(cudarc(fresh.clone_dtoh(&cudarc(copy)?))?, vec![7.0; LEN])?;
        check_equal(ours.download_blocking(&tensor)?, vec![7.0; LEN])?;
        drop_elsewhere(tensor)?;
    }

    // A tensor becomes a slice, and the slice is dropped on another thread.
    let mut lent = x.into_cudarc(&ours, &theirs)?;
    cudarc(theirs.memcpy_htod(&[5.0; LEN], &mut lent.as_view_mut()))?;
    check_equal(cudarc(theirs.clone_dtoh(&*lent))?, vec![5.0; LEN])?;
    drop_elsewhere(lent)?;

    // A stream of streamflow for cudarc, with a slice that lives longer than the loan; and a stream of cudarc for
    // streamflow.
    let y = ones(platform, &ours)?;
    let slice = {
        let lent = for_cudarc(&ours, &context)?;
        cudarc(ours.read_cudarc(&y, &lent, |view| lent.clone_dtod(&view))?)?
    };
    check_equal(cudarc(slice.stream().clone_dtoh(&slice))?, vec![ONES; LEN])?;
    drop(slice);
    drop(for_cudarc(&ours, &context)?);
    let outside = external(platform, &theirs)?;
    check_equal(outside.download_blocking(&y)?, vec![ONES; LEN])?;
    drop(outside);

    drop((y, ours));
    let end = Instant::now() + Duration::from_secs(10);
    while foreign_counts().adopted + foreign_counts().lent > 0 && Instant::now() < end {
        thread::yield_now();
    }
    let left = foreign_counts();
    check_equal((left.adopted, left.lent, left.leaked), (0, 0, 0))?;
    // Checks that no CUDA call in a drop has failed.
    cudarc(context.check_err())
}

/// Makes a claim. With `with_error` cudarc keeps an error in it, and so does not queue the next wait.
fn claim(platform: &Platform, with_error: bool) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let context = cudarc(CudaContext::new(0))?;
    let theirs = cudarc(context.new_stream())?;
    let x = ones(platform, &ours)?;
    let read = ours.read_cudarc(&x, &theirs, |_| {
        let kept = Err(DriverError(CUresult::CUDA_ERROR_NOT_PERMITTED));
        context.record_err::<()>(if with_error { kept } else { Ok(()) });
    });
    check_equal(read.is_err(), with_error)
}

/// Adopts a slice of the thread's default stream. With `with_stream`, the program's context also has a stream of its own.
fn adoption(platform: &Platform, with_stream: bool) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let context = cudarc(CudaContext::new(0))?;
    let own = with_stream.then(|| context.new_stream()).transpose();
    let own = cudarc(own)?;
    let slice = cudarc(context.per_thread_stream().clone_htod(&[7.0; LEN]))?;
    let tensor = platform.adopt_cudarc(slice, [LEN])?;
    check_equal(ours.download_blocking(&tensor)?, vec![7.0; LEN])?;
    drop((tensor, own));
    Ok(())
}

/// Reads a view on a stream in a claim. The claim drops the stream's last owner unless `is_kept`.
fn claim_of_the_thread(platform: &Platform, is_kept: bool) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let context = cudarc(CudaContext::new(0))?;
    let (own, threads) = (cudarc(context.new_stream())?, context.per_thread_stream());
    let (x, mut copy) = (ones(platform, &ours)?, cudarc(threads.alloc_zeros::<f32>(LEN))?);
    let kept = is_kept.then(|| own.clone());
    let copied = ours.read_cudarc(&x, &threads, {
        let copy = &mut copy;
        move |view| own.memcpy_dtod(&view, copy)
    });
    drop(kept);
    cudarc(copied?)
}

/// The driver could not take memory back, and nothing is lent.
fn old_driver(platform: &Platform) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let context = cudarc(CudaContext::new(0))?;
    let lent = ones(platform, &ours)?.into_cudarc(&ours, &cudarc(context.new_stream())?);
    let error = lent.map(drop).err().map(|error| error.to_string()).unwrap_or_default();
    check(error.contains("one of CUDA 12.5"), || format!("no such error: {error:?}"))?;
    check_equal(foreign_counts().lent, 0)
}

/// Makes claims on another stream, of a context that makes no events.
fn claims(platform: &Platform, count: usize) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let theirs = cudarc(cudarc(untracked_context())?.new_stream())?;
    let mut x = ones(platform, &ours)?;
    for _ in 0..count {
        ours.read_cudarc(&x, &theirs, |_| ())?;
        ours.write_cudarc(&mut x, &theirs, |_| ())?;
    }
    Ok(())
}

/// The device has failed, and a call of cudarc is the first to find out.
fn lost(platform: &Platform) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let theirs = cudarc(cudarc(CudaContext::new(0))?.new_stream())?;
    let x = ones(platform, &ours)?;
    for text in ["start the process again", "was not tried"] {
        let read = ours.read_cudarc(&x, &theirs, |_| ());
        let error = read.err().map(|error| error.to_string()).unwrap_or_default();
        check(error.contains(text), || format!("{text:?} is not in {error:?}"))?;
    }
    Ok(())
}

/// An external stream is forgotten, and cudarc's own handle is dropped. Later uses need records of that stream.
fn forgotten(platform: &Platform) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let theirs = cudarc(cudarc(CudaContext::new(0))?.new_stream())?;
    let mut x = ones(platform, &ours)?;
    let outside = external(platform, &theirs)?;
    outside.fill_bytes(&mut x, 1)?;
    std::mem::forget(outside);
    drop(theirs);
    check_equal(ours.download_blocking(&x)?, vec![ONES; LEN])
}

/// Allocates memory on a stream of cudarc within a claim. The claim must make streamflow's stream wait for the
/// allocation: on the view's stream, on another stream that reads the view, on the thread's default stream, and if the
/// claim panics.
fn way_back(platform: &Platform, is_ordered: bool) -> Result<(), Failed> {
    let context = cudarc(CudaContext::new(0))?;
    let ways = [(true, false), (false, false), (true, true), (false, true)];
    for (on_its_own, panics) in ways {
        for theirs in [cudarc(context.new_stream())?, context.per_thread_stream()] {
            let ours = ours(platform)?;
            let x = ones(platform, &ours)?;
            let on = if on_its_own { theirs.clone() } else { cudarc(context.new_stream())? };
            let mut made = None;
            if is_ordered {
                let claim = catch_unwind(AssertUnwindSafe(|| {
                    ours.read_cudarc(&x, &theirs, |view| {
                        made = Some(on.clone_dtod(&view));
                        if panics {
                            resume_unwind(Box::new(()));
                        }
                    })
                }));
                check_equal(claim.is_err(), panics)?;
                claim.unwrap_or(Ok(()))?;
            } else {
                // These calls do what a claim does at its beginning. A claim that orders nothing at its end is the
                // control.
                ours.before_cudarc(&theirs)?;
                made = Some(on.alloc_zeros(LEN));
            }
            let slice = cudarc(made.ok_or_else(|| Failed::msg("no claim"))?)?;
            let tensor = adopted_at_once(platform, slice)?;
            ours.download_blocking(&tensor)?;
        }
    }
    Ok(())
}

/// A control: no wait orders the stream that reads the view.
fn early_view(platform: &Platform) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let theirs = cudarc(cudarc(CudaContext::new(0))?.new_stream())?;
    let another = cudarc(theirs.context().new_stream())?;
    let x = platform.adopt_cudarc(cudarc(theirs.alloc_zeros::<f32>(LEN))?, [LEN])?;
    let early = unseen(&ours, &x, &another)?;
    cudarc(another.clone_dtoh(&*early)).map(drop)
}

/// A control: no wait orders the stream that uses the slice.
fn early_slice(platform: &Platform) -> Result<(), Failed> {
    let ours = ours(platform)?;
    let theirs = cudarc(cudarc(CudaContext::new(0))?.new_stream())?;
    let slice = cudarc(theirs.alloc_zeros::<f32>(LEN))?;
    let tensor = adopted_at_once(platform, slice)?;
    Ok(ours.download_blocking(&tensor).map(drop)?)
}

/// Makes calls that fail, and checks that nothing is left behind.
fn refused(platform: &Platform) -> Result<(), Failed> {
    let outside = |platform, theirs, text: &str| {
        let error = external(platform, theirs).map(drop).err().map(|error| error.to_string());
        check(error.as_ref().is_some_and(|error| error.contains(text)), || format!("{error:?}"))
    };
    let says = |error: Option<Error>, text: &str| {
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        check(error.contains(text), || format!("{text:?} is not in {error:?}"))
    };
    let (context, second) = (cudarc(CudaContext::new(0))?, cudarc(CudaContext::new(1))?);
    let (theirs, elsewhere) = (cudarc(context.new_stream())?, cudarc(second.new_stream())?);
    let slice = |on: &Arc<Theirs>| cudarc(on.clone_htod(&[1.0_f32; LEN]));
    let (own, host) = (ours(platform)?, Platform::host().build()?);
    let (x, y) = (ones(platform, &own)?, ones(&host, &ours(&host)?)?);

    says(host.adopt_cudarc(slice(&theirs)?, [LEN]).err(), "it is no CUDA device")?;
    outside(&host, &theirs, "it is no CUDA device")?;
    says(ours(&host)?.read_cudarc(&y, &theirs, |_| ()).err(), "it is no CUDA device")?;
    says(platform.adopt_cudarc(slice(&elsewhere)?, [LEN]).err(), "it is of CUDA device 1")?;
    outside(platform, &elsewhere, "it is of CUDA device 1")?;
    says(own.read_cudarc(&x, &elsewhere, |_| ()).err(), "it is of CUDA device 1")?;
    says(own.after_cudarc(&elsewhere).err(), "it is of CUDA device 1")?;
    says(own.before_cudarc(&elsewhere).err(), "it is of CUDA device 1")?;
    // This context has no stream of its own, so cudarc tracks no events in it, and no wait makes it current before a
    // free.
    let quiet = cudarc(CudaContext::new(0))?;
    says(platform.adopt_cudarc(slice(&quiet.default_stream())?, [LEN + 1]).err(), "shape")?;
    let (legacy, threads) = (context.default_stream(), context.per_thread_stream());
    outside(platform, &legacy, "Platform::default_stream")?;
    outside(platform, &threads, "CudaStream::after_cudarc")?;
    says(x.into_cudarc(&own, &elsewhere).err(), "it is of CUDA device 1")?;
    let end = Instant::now() + Duration::from_secs(10);
    while foreign_counts().adopted > 0 && Instant::now() < end {
        thread::yield_now();
    }
    check_equal(foreign_counts().adopted, 0)?;
    cudarc(quiet.check_err())?;
    cudarc(context.check_err())?;
    cudarc(second.check_err())
}

fn log_of(program: &str) -> Result<Log, Failed> {
    log_without(None, program, "")
}

/// Like [`log_of`], with a `libcuda` that lacks a function, or with a call that fails.
fn log_without(function: Option<&str>, program: &str, fault: &str) -> Result<Log, Failed> {
    let folder = tempfile::tempdir()?;
    library::install_without(&folder.path().join("lib"), function)?;
    let log = trial::run_as(
        ROLE,
        &folder.path().join("lib"),
        folder.path(),
        &[(PROGRAM, program), ("STREAMFLOW_FAKE_CUDA_FAULT", fault)],
    )?;
    check(log.has_ended && log.rounds.len() == 1, || format!("it has not ended: {log:?}"))?;
    Ok(log)
}

pub(crate) fn clean(program: &str) -> Result<(), Failed> {
    is_clean(&log_of(program)?)
}

fn is_clean(log: &Log) -> Result<(), Failed> {
    check(log.wrong.is_empty(), || format!("{:?}", log.wrong))?;
    check(log.live.is_empty(), || format!("not given back: {:?}", log.live))
}

pub(crate) fn there_and_back() -> Result<(), Failed> {
    clean("exchange")
}

pub(crate) fn errors() -> Result<(), Failed> {
    clean("refused")
}

/// Checks that memory is not lent if the driver is too old to take it back.
pub(crate) fn lent_by_an_old_driver() -> Result<(), Failed> {
    is_clean(&log_without(Some("cuCtxRecordEvent"), "old driver", "")?)
}

/// Checks that streamflow knows that a device has failed once cudarc has found out.
pub(crate) fn lost_device() -> Result<(), Failed> {
    let fault = "cuStreamIsCapturing 0 700 CUDA_ERROR_ILLEGAL_ADDRESS lost";
    let log = log_without(None, "lost", fault)?;
    check(log.has_fired && log.wrong.is_empty(), || format!("{log:?}"))
}

/// A stream of cudarc lives as long as an external stream that is never dropped.
pub(crate) fn kept_stream() -> Result<(), Failed> {
    let log = log_of("forgotten")?;
    check(log.wrong.is_empty(), || format!("{:?}", log.wrong))
}

/// How many calls of a function a program makes.
fn calls_of(program: &str, function: &str) -> Result<usize, Failed> {
    let log = log_of(program)?;
    check(log.wrong.is_empty(), || format!("{program}: {:?}", log.wrong))?;
    let calls = log.rounds.iter().flat_map(|round| &round.calls);
    Ok(calls.filter(|call| *call == function).count())
}

/// The host waits for the device where cudarc may not have queued a wait.
pub(crate) fn lost_wait() -> Result<(), Failed> {
    let waits = |program| calls_of(program, "cuCtxSynchronize");
    check_equal(waits("claim with an error")?, waits("claim")? + 1)
}

/// Checks that a stream makes one event for all its exchanges.
pub(crate) fn kept_event() -> Result<(), Failed> {
    let waits = calls_of("three claims", "cuStreamWaitEvent")?;
    let of_one = calls_of("one claim", "cuStreamWaitEvent")?;
    // Each turn has two claims, and each claim makes a wait on both sides.
    check_equal(waits - of_one, 8)?;
    check_equal(calls_of("three claims", "cuEventCreate")?, calls_of("one claim", "cuEventCreate")?)
}

/// Checks that streamflow's stream waits for all work of the device if cudarc tracks no events, so that no event can be
/// waited for.
pub(crate) fn untracked() -> Result<(), Failed> {
    let waits = |program| calls_of(program, "cuCtxRecordEvent");
    check_equal((waits("adoption")?, waits("adoption without tracking")?), (0, 1))?;
    let claims = [waits("claim of the thread's stream")?, waits("claim without tracking")?];
    check_equal(claims, [0, 1])
}

/// A claim ends with the order of the stream after cudarc's work.
pub(crate) fn ordered_back() -> Result<(), Failed> {
    let log = log_of("way back")?;
    check(log.wrong.is_empty(), || format!("{:?}", log.wrong))
}

/// Checks that the tests' `libcuda` reports a use that no exchange has ordered.
pub(crate) fn unordered() -> Result<(), Failed> {
    for program in ["early view", "early slice", "no way back"] {
        let log = log_of(program)?;
        let is_early = |text: &String| text.ends_with("is used before its allocation");
        let found = !log.wrong.is_empty() && log.wrong.iter().all(is_early);
        check(found, || format!("{program}: {:?}", log.wrong))?;
    }
    Ok(())
}
