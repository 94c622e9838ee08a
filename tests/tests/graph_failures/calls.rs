//! A call that orders streams or makes a device current fails while a graph runs.

use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow::prelude::*;
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::seen::{Seen, all};
use streamflow_tests::tensors::{Rx, SLOW, Tx};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_failed_wait_ends_the_run", |on| fails(on, CallKind::WaitEvent, "wait_event"))
        .both("a_failed_record_ends_the_run", |on| fails(on, CallKind::RecordEvent, "record_event"))
        .both("a_device_that_cannot_be_bound_ends_the_run", |on| fails(on, CallKind::Bind, "bind"))
}

graph! {
    struct TwoStreams(seen: Seen<f32>) {
        #[when(count(3))] let tx: Tx = Tx::new(0.0, true, SLOW / 8);
        let rx: Rx = Rx::new(seen);
        tx.image >> rx.image;
    }
}

/// Checks that a run whose first call of a kind fails ends with an error that names the call, and that no
/// operator has received unordered data.
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
