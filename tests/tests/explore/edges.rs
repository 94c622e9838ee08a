//! Programs that lack an edge between streams, and the same programs with the edge.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use streamflow::prelude::*;
use streamflow::testing::Explorer;
use streamflow_tests::kernels::fill;
use streamflow_tests::layers::DropWaits;
use streamflow_tests::ordered;
use streamflow_tests::races::Program;
use streamflow_tests::{Failed, check};

/// Runs the program, and returns an error if its data is wrong.
fn run(program: Program, platform: &Platform) -> Result<()> {
    let platform = ordered::platform(platform.driver().clone())?;
    if program(&platform)? { Ok(()) } else { Err(Failure::msg("the data is wrong")) }
}

/// As `run`, with a driver that drops all waits between streams.
pub(crate) fn without_waits(program: Program, platform: &Platform) -> Result<()> {
    let driver = Arc::new(DropWaits::all(platform.driver().clone()));
    run(program, &Platform::builder().driver(driver)?)
}

pub(crate) fn right(program: Program) -> Result<(), Failed> {
    let found = Explorer::new().run_exhaustively(|platform| run(program, platform))?;
    found.check()?;
    check(found.states > Some(20), || found.to_string())
}

/// Returns an exploration with enough seeds for a fault that not every seed shows, however many seeds the
/// environment sets.
pub(crate) const fn enough_seeds() -> Explorer {
    Explorer::new().seeds(64)
}

pub(crate) fn found(program: Program) -> Result<(), Failed> {
    let seeds = enough_seeds().run(|platform| without_waits(program, platform))?;
    let all = Explorer::new().run_exhaustively(|platform| without_waits(program, platform))?;
    for found in [seeds, all] {
        let cause = found.failing.as_ref().map(|failing| failing.cause.to_string());
        check(cause.as_deref() == Some("the data is wrong"), || found.to_string())?;
    }
    Ok(())
}

/// Writes 7 on one stream and 9 on another, and returns the final value.
fn write_twice(
    platform: &Platform,
    look: impl Fn(&CudaStream, &Buffer<f32>) -> Result<f32>,
) -> Result<f32> {
    let pool = platform.stream_pool("WRITERS", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let mut data = platform.buffer::<f32>(4, &a)?;
    a.synchronize_blocking()?;
    a.launch::<fill>(4, (&mut data, 7.0))?;
    b.launch::<fill>(4, (&mut data, 9.0))?;
    look(&b, &data)
}

/// Explores a program, and returns the set of values that it has returned.
fn values(program: impl Fn(&Platform) -> Result<f32>) -> Result<BTreeSet<u32>> {
    let values = RefCell::new(BTreeSet::new());
    let found = Explorer::new().run_exhaustively(|platform| {
        values.borrow_mut().insert(program(platform)? as u32);
        Ok(())
    })?;
    found.check()?;
    Ok(values.take())
}

fn racing(platform: &Platform) -> Result<Platform> {
    Ok(Platform::builder().driver(Arc::new(DropWaits::all(platform.driver().clone())))?)
}

/// Two orders of the same operations leave the same numbers of executed operations, and different memory. If the exploration took these states
/// for one, it would miss one of the outcomes.
pub(crate) fn two_writers() -> Result<(), Failed> {
    let in_the_end = |stream: &CudaStream, data: &Buffer<f32>| {
        // Both waits block until the streams are complete. The two writes have no edge between them.
        stream.synchronize_blocking()?;
        let all = stream.download_blocking(data)?;
        Ok(all[0])
    };
    let ordered = values(|platform| write_twice(platform, in_the_end))?;
    check(ordered == [9].into(), || format!("with the edge: {ordered:?}"))?;
    let racing = values(|platform| write_twice(&racing(platform)?, in_the_end))?;
    check(racing == [7, 9].into(), || format!("without it: {racing:?}"))
}

/// The host reads three times, and each read may come too early. Between the reads, memory is the same in both
/// cases: only the values that the host has read differ, and each of them must be combined with each later one.
pub(crate) fn read_by_the_host() -> Result<(), Failed> {
    let pageable =
        |_: &Platform, b: &CudaStream, data: &Buffer<f32>| Ok(b.download_blocking(data)?[0]);
    let pinned = |platform: &Platform, b: &CudaStream, data: &Buffer<f32>| {
        Ok(platform.download(data, b)?.wait_blocking()?[0])
    };
    every_combination(pageable)?;
    every_combination(pinned)
}

fn every_combination(
    look: impl Fn(&Platform, &CudaStream, &Buffer<f32>) -> Result<f32>,
) -> Result<(), Failed> {
    let seen = values(|platform| {
        let platform = racing(platform)?;
        let pool = platform.stream_pool("READERS", &CudaStreamPool::new())?;
        let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
        let mut data = platform.buffer::<f32>(4, &a)?;
        a.launch::<fill>(4, (&mut data, 0.0))?;
        a.synchronize_blocking()?;
        let mut late = 0.0;
        for round in 1..4 {
            a.launch::<fill>(4, (&mut data, round as f32))?;
            let read = look(&platform, &b, &data)?;
            late = 2.0 * late + f32::from(u8::from(read == round as f32));
            a.synchronize_blocking()?;
        }
        Ok(late)
    })?;
    check(seen == (0..8).collect(), || format!("{seen:?}"))
}

pub(crate) fn panic() -> Result<(), Failed> {
    let explorer = Explorer::new();
    let test = |_: &Platform| panic!("wrong: {}", 3);
    for found in [explorer.run(test)?, explorer.run_exhaustively(test)?] {
        check(found.runs == 1, || found.to_string())?;
        let cause = found.failing.map(|failing| failing.cause);
        let expected = Error::Panicked { message: "wrong: 3".into() };
        check(cause.as_ref() == Some(&expected), || format!("{cause:?}"))?;
    }
    Ok(())
}
