//! Laws 7 and 9: ordering is carried by data, on both platforms, and each program is wrong when the
//! waits are taken away below it.
#![allow(missing_docs, reason = "a test binary")]

use std::process::ExitCode;
use std::sync::Arc;

use streamflow::MemoryOptions;
use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::prelude::*;
use streamflow_tests::layers::DropWaits;
use streamflow_tests::races::{self, Program};
use streamflow_tests::{Failed, Suite, check};

/// Seeds of a control, and how many of them must show the missing edge.
const CONTROL_SEEDS: u64 = 100;
const MUST_SHOW: usize = 30;

/// How often a control is tried on a GPU until it shows the missing edge.
const CONTROL_TRIES: usize = 5;

fn main() -> ExitCode {
    let suite = races::ALL.iter().fold(Suite::new(), |suite, &(name, program)| {
        suite
            .both(name, move |platform| is_right(program, platform.driver().clone()))
            .plain(&format!("{name}_control::host"), move || control_on_host(program))
            .cuda(&format!("{name}_control"), move |platform| control_on_gpu(program, platform))
    });
    suite
        .both("blocking_streams_share_the_default_barrier", |platform| {
            let seen = right_without_waits(blocking, platform.driver().clone())?;
            check(seen, || "a blocking stream is not ordered with the default stream".into())
        })
        .plain("blocking_streams_share_the_default_barrier_control::host", || {
            control_on_host(non_blocking)
        })
        .cuda("blocking_streams_share_the_default_barrier_control", |platform| {
            control_on_gpu(non_blocking, platform)
        })
        .run()
}

fn blocking(platform: &Platform) -> Result<bool> {
    races::barrier(platform, StreamFlags::Blocking)
}

fn non_blocking(platform: &Platform) -> Result<bool> {
    races::barrier(platform, StreamFlags::NonBlocking)
}

/// One freed block in flight: the next allocation of its size takes it, and must wait for it.
fn platform(driver: Arc<dyn Driver>) -> Result<Platform> {
    Platform::with_memory(driver, MemoryOptions { in_flight: 1, ..MemoryOptions::default() })
}

fn is_right(program: Program, driver: Arc<dyn Driver>) -> Result<(), Failed> {
    check(program(&platform(driver)?)?, || "the data is wrong".into())
}

/// Whether a program's data is right without any wait between streams.
fn right_without_waits(program: Program, driver: Arc<dyn Driver>) -> Result<bool, Failed> {
    let broken = Arc::new(DropWaits::all(driver));
    let right = program(&platform(broken.clone())?)?;
    check(broken.dropped() > 0, || "the program never waits: the control proves nothing".into())?;
    Ok(right)
}

fn control_on_host(program: Program) -> Result<(), Failed> {
    let mut shown = 0;
    for seed in 0..CONTROL_SEEDS {
        let driver = Arc::new(HostDriver::builder().seed(seed).build());
        shown += usize::from(!right_without_waits(program, driver)?);
    }
    check(shown >= MUST_SHOW, || {
        format!("without waits only {shown} of {CONTROL_SEEDS} seeds gave wrong data")
    })
}

fn control_on_gpu(program: Program, platform: &Platform) -> Result<(), Failed> {
    for _ in 0..CONTROL_TRIES {
        let right = right_without_waits(program, platform.driver().clone())?;
        // Where a race checker watches below, it has missed the waits as well; here the data decides.
        let _missed = platform.take_races();
        if !right {
            return Ok(());
        }
    }
    Err(Failed::new(format!(
        "inconclusive: without waits the data was right {CONTROL_TRIES} times"
    )))
}
