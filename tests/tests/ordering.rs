//! Laws 7 and 9: ordering is carried by data, on both platforms, and each program is wrong when the
//! waits are taken away below it.
#![allow(missing_docs, reason = "a test binary")]

use std::process::ExitCode;
use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_tests::layers::DropWaits;
use streamflow_tests::{Failed, Suite, check, races};

fn main() -> ExitCode {
    let suite = races::ALL
        .iter()
        .fold(Suite::new(), |suite, &(name, program)| suite.ordered(name, program));
    suite
        .both("blocking_streams_share_the_default_barrier", |platform| {
            let seen = ordered(platform.driver().clone(), StreamFlags::Blocking)?;
            check(seen, || "a blocking stream is not ordered with the default stream".into())
        })
        .control("blocking_streams_share_the_default_barrier", |driver| {
            ordered(driver, StreamFlags::NonBlocking)
        })
        .run()
}

/// Whether the default stream's barrier alone kept the order.
fn ordered(
    driver: Arc<dyn streamflow::driver::Driver>,
    flags: StreamFlags,
) -> Result<bool, Failed> {
    let platform = Platform::from_driver(Arc::new(DropWaits::all(driver)))?;
    Ok(races::barrier(&platform, flags)?)
}
