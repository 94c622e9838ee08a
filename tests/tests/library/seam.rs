//! A library call by itself, with a library that copies: the order of the call, and what the layers of the driver
//! see of it.

use std::sync::Arc;

use crate::library::matmul::hook::once;
use streamflow::driver::host::HostDriver;
use streamflow::driver::{Driver, Recorder};
use streamflow::library::{HostBody, Operands};
use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::foreign::{CopyLibrary, launch_unordered};
use streamflow_tests::kernels::{add_one, slow_copy, slow_fill};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::libraries::Problem;
use streamflow_tests::ordered::Program;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

fn fails(done: Result<()>, parts: &[&str]) -> Result<(), Failed> {
    let text = check_error("the call", done, |_| true)?;
    check_text(&text, parts)
}

const LEN: usize = 1003;
/// The length of a slow kernel in cycles. It takes about 10 ms on a GPU, much longer than a call of the host.
const SLOW: u64 = 20_000_000;

const PROGRAMS: &[(&str, Program)] = &[
    ("a_call_comes_after_the_write_of_what_it_reads", reads_late_data),
    ("a_later_read_comes_after_what_a_call_writes", is_read_later),
    ("a_later_write_comes_after_what_a_call_reads", is_overwritten_later),
];

pub(crate) fn add(suite: Suite) -> Suite {
    let suite = PROGRAMS.iter().fold(suite, |suite, &(name, program)| suite.ordered(name, program));
    suite
        .both("a_call_is_recorded_with_its_accesses", recorded)
        .plain("the_race_checker_names_the_library_function::host", || {
            races(Arc::new(HostDriver::builder().seed(0).build()))
        })
        .cuda("the_race_checker_names_the_library_function", |platform| {
            races(platform.driver().clone())
        })
        .both("what_must_not_be_captured_says_so_at_the_seam", uncaptured)
        .both("a_call_that_fails_leaves_its_memory_usable", failing)
        .both("a_call_has_a_limited_number_of_claims", limited)
        .cuda("a_status_is_an_error_with_its_name", status)
        .devices("memory_of_another_device_is_refused", 2, elsewhere)
        .host("a_host_body_that_panics_is_a_fault_with_its_name", panics)
        .host("a_host_body_gets_claims_as_they_were_made", mistaken)
}

struct Setting {
    a: CudaStream,
    b: CudaStream,
    library: CopyLibrary,
    from: Buffer<f32>,
    to: Buffer<f32>,
}

/// Returns two streams, and two buffers with the values 1 and 2. All work is complete, and all kernels are
/// loaded.
fn set(platform: &Platform) -> Result<Setting> {
    let pool = platform.stream_pool("LIBRARY", &CudaStreamPool::new().max_size(2))?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let (mut from, mut to) = (platform.buffer(LEN, &a)?, platform.buffer(LEN, &a)?);
    a.launch::<slow_fill>(LEN, (&mut from, 0.0, 0))?;
    a.launch::<slow_copy>(LEN, (&mut to, &from, 0))?;
    a.launch::<add_one>(LEN, (&mut from,))?;
    a.launch::<slow_fill>(LEN, (&mut to, 2.0, 0))?;
    let library = CopyLibrary::new(platform)?;
    a.synchronize_blocking()?;
    Ok(Setting { a, b, library, from, to })
}

fn holds(stream: &CudaStream, data: &DeviceSlice<f32>, value: f32) -> Result<bool> {
    Ok(stream.download_blocking(data)?.iter().all(|&found| found == value))
}

fn reads_late_data(platform: &Platform) -> Result<bool> {
    let Setting { a, b, library, mut from, mut to } = set(platform)?;
    a.launch::<slow_fill>(LEN, (&mut from, 7.0, SLOW))?;
    library.copy(&b, &from, &mut to)?;
    holds(&b, &to, 7.0)
}

fn is_read_later(platform: &Platform) -> Result<bool> {
    let Setting { a, b, library, mut from, mut to } = set(platform)?;
    a.launch::<slow_fill>(LEN, (&mut from, 7.0, SLOW))?;
    library.copy(&a, &from, &mut to)?;
    b.launch::<add_one>(LEN, (&mut to,))?;
    holds(&b, &to, 8.0)
}

fn is_overwritten_later(platform: &Platform) -> Result<bool> {
    let Setting { a, b, library, mut from, mut to } = set(platform)?;
    let mut other = platform.buffer(LEN, &a)?;
    a.launch::<slow_fill>(LEN, (&mut other, 0.0, SLOW))?;
    library.copy(&a, &from, &mut to)?;
    b.launch::<slow_fill>(LEN, (&mut from, 9.0, 0))?;
    b.synchronize_blocking()?;
    holds(&a, &to, 1.0)
}

fn recorded(platform: &Platform) -> Result<(), Failed> {
    let recorder = Arc::new(Recorder::new(platform.driver().clone()));
    let platform = Platform::builder().driver(recorder.clone())?;
    let Setting { a, library, from, mut to, .. } = set(&platform)?;
    recorder.clear();
    library.copy(&a, &from, &mut to)?;
    let calls = recorder.calls();
    let call = calls.iter().find(|call| matches!(call, Call::Library { .. }));
    let text = call.map(ToString::to_string).unwrap_or_default();
    check_text(&text, &["call testCopy on stream", ", reads from = ", ", writes to = "])
}

/// Checks each kind of problem that keeps a plan's calls from being captured in a CUDA graph.
fn uncaptured(platform: &Platform) -> Result<(), Failed> {
    let recorder = Arc::new(Recorder::new(platform.driver().clone()));
    let recorded = Platform::builder().driver(recorder.clone())?;
    once(&recorded, move |cx, work, _| {
        for problem in Problem::small() {
            recorder.clear();
            let mut plan = problem.workload(cx, work)?;
            plan.prepare(1, cx, work)?;
            plan.call(work)?;
            let found = recorder.calls().into_iter().filter_map(|call| match call {
                Call::Library { is_captured, .. } => Some((is_captured, call.to_string())),
                _ => None,
            });
            let found: Vec<_> = found.collect();
            check(!found.is_empty(), || format!("{} made no call", problem.kind))?;
            for (is_captured, text) in &found {
                check_equal(*is_captured, !text.contains(", not to be captured"))?;
                let is_expected = text.contains("preprocess") || text.contains("cusolver");
                check_equal((*is_captured, text), (!is_expected, text))?;
            }
            let needed = usize::from(matches!(problem.kind, "spmv" | "cholesky"));
            let uncaptured = found.iter().filter(|it| !it.0).count();
            check(uncaptured >= needed, || format!("{}: {found:?}", problem.kind))?;
        }
        Ok(())
    })
}

fn races(driver: Arc<dyn Driver>) -> Result<(), Failed> {
    // The environment may have added a race checker already.
    let platform = Platform::builder().race_check(true).driver(driver)?;
    let Setting { a, b, library, from, mut to } = set(&platform)?;
    library.copy(&a, &from, &mut to)?;
    launch_unordered::<add_one>(&b, LEN, (&mut to,))?;
    a.synchronize_blocking()?;
    b.synchronize_blocking()?;
    let reports = platform.driver().observer().take_races();
    check_equal(reports.races.len(), 1)?;
    let text = reports.races[0].to_string();
    check_text(&text, &["library function `testCopy` writes `to`", "seam.rs:", "kernel `add_one`"])
}

fn failing(platform: &Platform) -> Result<(), Failed> {
    let failing = Arc::new(FailNth::new(platform.driver().clone(), CallKind::CallLibrary, 0));
    let platform = Platform::builder().driver(failing)?;
    let Setting { a, b, library, from, mut to } = set(&platform)?;
    fails(library.copy(&a, &from, &mut to), &["call_library", "INJECTED"])?;
    library.copy(&b, &from, &mut to)?;
    check(holds(&a, &to, 1.0)?, || "the second call was not made".into())
}

fn limited(platform: &Platform) -> Result<(), Failed> {
    let Setting { a, library, from, .. } = set(platform)?;
    let done = library.claim_too_much(&a, &from);
    fails(done, &["testCopy of the tests' library failed", "at most 12 claims"])
}

fn status(platform: &Platform) -> Result<(), Failed> {
    let Setting { a, library, mut to, .. } = set(platform)?;
    let done = library.fail(&a, &mut to);
    fails(done, &["testFail of the tests' library failed: TEST_FAILED (7); see the doc"])?;
    check(holds(&a, &to, 2.0)?, || "the stream is not usable after a status".into())
}

fn elsewhere(platform: &Platform) -> Result<(), Failed> {
    let Setting { a, library, from, .. } = set(platform)?;
    let other = platform.default_stream(device(1))?;
    let mut to = platform.buffer(LEN, &other)?;
    fails(library.copy(&a, &from, &mut to), &["to is on device 1, but the stream is on device 0"])
}

fn panics(platform: &Platform) -> Result<(), Failed> {
    let Setting { a, library, from, mut to, .. } = set(platform)?;
    let body = HostBody::new("testCopy", |it| {
        assert!(it.read::<f32>().is_empty(), "a mistake");
        Ok(())
    });
    let done = library.copy_with(&body, &a, &from, &mut to);
    let done = done.and_then(|()| Ok(a.synchronize_blocking()?));
    fails(done, &["library function `testCopy` panicked: a mistake"])
}

/// Checks bodies that take the claims of a copy in another order than the copy makes them: the read first, and
/// then the write.
fn mistaken(platform: &Platform) -> Result<(), Failed> {
    fn body(takes: impl Fn(&mut Operands<'_>) + Send + Sync + 'static) -> HostBody {
        HostBody::new("b", move |it| {
            takes(it);
            Ok(())
        })
    }
    let bodies: [(HostBody, &str); 5] = [
        (body(|it| it.write::<f32>().fill(0.0)), "read, or written"),
        (body(|it| assert_eq!(it.value::<u64>(), 0)), "has a claim next"),
        (body(|it| assert!(it.read::<f64>().is_empty())), "no elements of 8 bytes"),
        (
            body(|it| {
                let lengths = (it.read::<f32>().len(), it.write::<f32>().len());
                assert_eq!((lengths, it.read::<f32>().len()), ((LEN, LEN), 0));
            }),
            "has a value next, and no claim",
        ),
        (
            body(|it| {
                let lengths = (it.read::<f32>().len(), it.write::<f32>().len());
                assert_eq!((lengths, it.value::<u8>()), ((LEN, LEN), 0));
            }),
            "no more claims",
        ),
    ];
    for (body, text) in bodies {
        let platform =
            Platform::host().seed(platform.driver().observer().seed().unwrap_or(0)).build()?;
        let Setting { a, library, from, mut to, .. } = set(&platform)?;
        let done = library.copy_with(&body, &a, &from, &mut to);
        let done = done.and_then(|()| Ok(a.synchronize_blocking()?));
        fails(done, &[text])?;
    }
    Ok(())
}
