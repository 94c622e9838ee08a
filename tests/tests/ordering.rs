//! Laws 7 and 9: ordering is carried by data, on both platforms, and each program is wrong when the
//! waits are taken away below it.
#![allow(missing_docs, reason = "a test binary")]

mod ordering {
    pub(crate) mod old_messages;
}

use std::process::ExitCode;
use std::sync::Arc;

use ordering::old_messages;
use streamflow::prelude::*;
use streamflow_tests::layers::DropWaits;
use streamflow_tests::ordered::{right, without_waits};
use streamflow_tests::{Failed, Suite, check, races};

fn main() -> ExitCode {
    let suite = races::ALL
        .iter()
        .fold(Suite::new(), |suite, &(name, program)| suite.ordered(name, program));
    suite
        .both("law7_an_old_message_beside_a_late_one", |platform| {
            right(old_messages::beside_a_late_one, platform)
        })
        // Fewer seeds show it than of the others: the host waits for most of the streams before.
        .control_on("law7_an_old_message_beside_a_late_one_control", 1, 10, |driver| {
            without_waits(old_messages::beside_a_late_one, driver)
        })
        .both("law14_an_old_message_and_an_early_look", |platform| {
            check(old_messages::and_an_early_look(platform)?, || "read before it is written".into())
        })
        .both("blocking_streams_share_the_default_barrier", |platform| {
            let seen = barrier(platform.driver().clone(), StreamFlags::Blocking)?;
            check(seen, || "a blocking stream is not ordered with the default stream".into())
        })
        .control("blocking_streams_share_the_default_barrier", |driver| {
            barrier(driver, StreamFlags::NonBlocking)
        })
        .run()
}

/// Whether the default stream's barrier alone kept the order.
fn barrier(
    driver: Arc<dyn streamflow::driver::Driver>,
    flags: StreamFlags,
) -> Result<bool, Failed> {
    let platform = Platform::from_driver(Arc::new(DropWaits::all(driver)))?;
    Ok(races::barrier(&platform, flags)?)
}
