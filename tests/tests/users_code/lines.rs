//! A subscriber of log lines that calls the library that logs the lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use streamflow::kernel::{CompiledCode, Kernel};
use streamflow::prelude::*;
use streamflow_tests::kernels::fill;
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{EachLine, Failed, check, check_error};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::with_default;
use tracing::{Level, Subscriber};

/// Returns a subscriber that calls a function for each line, and counts the lines.
fn calls(call: impl Fn() + Send + Sync + 'static, lines: &Arc<AtomicUsize>) -> impl Subscriber {
    let lines = lines.clone();
    let line = move |_: Level, _: &str| {
        call();
        lines.fetch_add(1, Ordering::SeqCst);
    };
    EachLine { level: LevelFilter::TRACE, line }
}

/// Checks the line that is logged when a stream can't be made, and the parts of it that were made can't be given
/// back.
pub(crate) fn of_a_pool() -> Result<(), Failed> {
    let host = Platform::host().build()?;
    let destroys = FailNth::new(host.driver().clone(), CallKind::DestroyStream, u64::MAX);
    let destroys = Arc::new(destroys);
    let makes = Arc::new(FailNth::new(destroys.clone(), CallKind::CreateEvent, u64::MAX));
    let platform = Platform::builder().driver(makes.clone())?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let (asked, lines) = (pool.clone(), Arc::new(AtomicUsize::new(0)));
    makes.fail_next();
    destroys.fail_next();
    let subscriber = calls(move || assert_eq!(asked.in_use(), 0), &lines);
    let made = with_default(subscriber, || pool.allocate("a"));
    check_error("a stream", made, |error| error.to_string().contains("INJECTED"))?;
    check(lines.load(Ordering::SeqCst) > 0, || "no line".into())
}

/// Checks the line about a setting, which is read once, and whose line names the mistake in it. The result of the
/// call does not matter, since there may be no compiler.
pub(crate) fn of_a_setting() -> Result<(), Failed> {
    let lines = Arc::new(AtomicUsize::new(0));
    let compile = || drop(CompiledCode::cached_for(<fill as Kernel>::INFO, (9, 0)));
    with_default(calls(compile, &lines), compile);
    check(lines.load(Ordering::SeqCst) > 0, || "no line".into())
}
