//! Failures and mistakes that Holoscan ignores and that no other group covers: a failing call of the driver, the
//! reserved stream name, a machine without a GPU. The table is in README.md.

use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow::prelude::*;
use streamflow_tests::layers::{CallKind, FailNth, NotYet};
use streamflow_tests::{Failed, Suite, check, check_error, check_text, child};

use super::gxf::Rx;
use super::operators::{SLOW, Seen, Tx, all, holds, push_seen};

/// The role of the child process without a GPU.
pub(crate) const NO_GPU: &str = "no GPU";

pub(crate) fn tests(suite: Suite) -> Suite {
    suite
        .both("a_failed_wait_ends_the_run", |on| fails(on, CallKind::WaitEvent, "wait_event"))
        .both("a_failed_record_ends_the_run", |on| fails(on, CallKind::RecordEvent, "record_event"))
        .both("a_device_that_cannot_be_bound_ends_the_run", |on| fails(on, CallKind::Bind, "bind"))
        .both("a_failed_host_function_ends_the_run", host_function_fails)
        .ordered("a_stream_named_internal_is_an_ordinary_stream", named_internal)
        .plain("a_missing_gpu_is_an_error", || {
            child::run("holoscan", NO_GPU, &[("CUDA_VISIBLE_DEVICES", "")])
        })
}

graph! {
    struct TwoStreams(seen: Seen<f32>) {
        #[when(count(3))] let tx: Tx = Tx::new(0.0, true, SLOW / 8);
        let rx: Rx = Rx::new(seen);
        tx.image >> rx.image;
    }
}

/// The first call of a kind fails while the graph runs. The run ends with an error that names the call, and no operator
/// has received unordered data.
fn fails(platform: &Platform, kind: CallKind, call: &str) -> Result<(), Failed> {
    let failing = Arc::new(FailNth::new(platform.driver().clone(), kind, u64::MAX));
    let built = Platform::builder().driver(failing.clone() as Arc<dyn Driver>)?;
    let seen = Seen::default();
    let mut graph = TwoStreams::new(&built, seen.clone())?;
    failing.fail_next();
    let text = check_error(call, graph.run(), |_| true)?;
    check_text(&text, &[call, "INJECTED"])?;
    check(all(&seen).is_empty(), || format!("{seen:?}"))
}

graph! {
    struct Awaited(seen: Seen<f32>) {
        #[when(count(3))] let tx: Tx = Tx::new(0.0, true, SLOW / 8);
        #[when(stream_done(image))] let rx: Rx = Rx::new(seen);
        tx.image >> rx.image;
    }
}

/// The scheduler is about to sleep, and the host function that would wake it can't be queued. The run ends with its
/// error. In Holoscan the condition stays registered, and nothing wakes it.
fn host_function_fails(platform: &Platform) -> Result<(), Failed> {
    let failing =
        Arc::new(FailNth::new(platform.driver().clone(), CallKind::LaunchHostFunction, 0));
    let driver = Arc::new(NotYet::new(failing.clone()));
    let seen = Seen::default();
    let mut graph = Awaited::new(&Platform::builder().driver(driver)?, seen.clone())?;
    let text = check_error("launch_host_function", graph.run(), |_| true)?;
    check_text(&text, &["launch_host_function", "INJECTED"])?;
    check(failing.has_failed() && all(&seen).is_empty(), || format!("{seen:?}"))
}

/// Gives a stream of its own the name that Holoscan reserves for the internal one.
#[operator]
struct Internal {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for Internal {
    fn compute(&mut self, io: InternalIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let own = cx.allocate_cuda_stream_named("_internal")?;
        let apart = own.raw() != stream.raw();
        push_seen(&self.seen, apart && holds(cx, image, &own, cx.tick() as f32)?);
        Ok(())
    }
}

graph! {
    struct NamedInternal(seen: Seen<bool>) {
        #[when(count(3))] let tx: Tx = Tx::new(0.0, true, SLOW);
        let rx: Internal = Internal::new(seen);
        tx.image >> rx.image;
    }
}

/// No name is reserved: the stream is not the internal one.
fn named_internal(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    NamedInternal::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 3])
}

/// In a process without a GPU, `Platform::cuda` is an error. There is no fallback.
pub(crate) fn without_gpu() -> Result<(), Failed> {
    let text = check_error("no GPU", Platform::cuda(), |_| true)?;
    check_text(&text, &["CUDA", "host simulator"])
}
