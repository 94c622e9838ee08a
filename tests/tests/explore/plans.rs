//! A graph of operators with two library plans each, on two streams.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow::testing::{Explorer, explore};
use streamflow_tests::layers::DropWaits;
use streamflow_tests::{Failed, check, plans};

const TICKS: u64 = 3;

fn run(platform: &Platform) -> Result<()> {
    if plans::is_right(platform, TICKS)? { Ok(()) } else { Err(Failure::msg(WRONG)) }
}

const WRONG: &str = "the data is wrong";

pub(crate) fn right() -> Result<(), Failed> {
    Ok(explore(run)?)
}

/// Checks that the data alone, without the race checker, shows the fault.
pub(crate) fn found() -> Result<(), Failed> {
    let found = Explorer::new().race_check(false).run(|platform| {
        let driver = Arc::new(DropWaits::all(platform.driver().clone()));
        run(&Platform::builder().race_check(false).driver(driver)?)
    })?;
    let cause = found.failing.as_ref().map(|failing| failing.cause.to_string());
    check(cause.as_deref() == Some(WRONG), || found.to_string())
}
