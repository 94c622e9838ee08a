//! Calls of one thread while another thread makes a call. The race checker must judge a call by the state that
//! the call saw, and not by calls that were made meanwhile.

use std::sync::Arc;
use std::thread;

use streamflow::driver::host::{HostDriver, Policy};
use streamflow::driver::{Driver, RawStream};
use streamflow::prelude::*;
use streamflow::stream::StreamFlags;
use streamflow_driver::driver::{CopyKind, DriverResult, RawEvent, StreamOptions};
use streamflow_tests::foreign::{self, Bare};
use streamflow_tests::layers::{Between, Moment};
use streamflow_tests::{Failed, Suite, check};

use super::STREAM;

const MOMENTS: [Moment; 2] = [Moment::Before, Moment::After];

/// Whether the thread of the interrupted call owns the journal. If not, another thread owns it.
const OWNERS: [bool; 2] = [true, false];

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_wait_is_judged_by_the_record_that_it_saw::host", || {
            AWAITS
                .into_iter()
                .try_for_each(|wait| each(|bench, moment| awaited(bench, moment, wait)))
        })
        .plain("a_wait_during_a_record_does_not_see_it::host", || each(wait_during_record))
        .plain("a_download_proves_nothing_of_work_that_is_queued_meanwhile::host", || {
            each(download)
        })
        .plain("a_reliance_is_on_a_record_and_no_other_work::host", || {
            relies(true)?;
            relies(false)
        })
        .plain(
            "a_blocking_stream_of_another_origin_comes_after_the_default_stream::host",
            foreign_stream,
        )
}

/// Two streams, an event, and the layer below the checker that interrupts calls.
struct Bench {
    bare: Bare,
    layer: Arc<Between>,
    a: RawStream,
    b: RawStream,
    event: RawEvent,
}

impl Bench {
    fn new(owner: bool) -> DriverResult<Self> {
        let below = HostDriver::builder().policy(Policy::Lazy).build();
        let layer = Arc::new(Between::new(Arc::new(below)));
        let bare = Bare::new(layer.clone())?;
        if !owner {
            // The first thread that queues work owns the journal until the thread ends. This thread parks and does not end.
            let driver = bare.driver();
            let (stream, event) = (bare.stream(STREAM)?, bare.event()?);
            let (started, has_started) = std::sync::mpsc::channel();
            thread::spawn(move || {
                let bound = driver.bind(device(0));
                let done = bound.and_then(|()| foreign::record(&*driver, event, stream));
                let _gone = started.send(done);
                drop(driver);
                thread::park();
            });
            has_started.recv().unwrap_or(Ok(()))?;
        }
        let (a, b, event) = (bare.stream(STREAM)?, bare.stream(STREAM)?, bare.event()?);
        Ok(Self { bare, layer, a, b, event })
    }

    /// Lets another thread run `code` during the next wait, record or copy.
    fn meanwhile(
        &self,
        moment: Moment,
        code: impl FnOnce(&dyn Driver) -> DriverResult<()> + Send + 'static,
    ) {
        let driver = self.bare.driver();
        self.layer.during_next(moment, move || {
            let done = thread::spawn(move || driver.bind(device(0)).and_then(|()| code(&*driver)));
            assert!(matches!(done.join(), Ok(Ok(()))), "the other thread failed");
        });
    }

    fn check(&self, what: &str, count: usize) -> Result<(), Failed> {
        let races = self.bare.races();
        check(races.races.len() == count, || format!("{what}: not {count} races: {races}"))
    }
}

/// Runs a program with a disturbance at each moment, by an owner of the journal and by another thread: one race
/// must be reported. The control without a disturbance has no race.
fn each(program: impl Fn(&Bench, Option<Moment>) -> DriverResult<()>) -> Result<(), Failed> {
    for owner in OWNERS {
        for moment in MOMENTS {
            let bench = Bench::new(owner)?;
            program(&bench, Some(moment))?;
            bench.check(&format!("{moment:?}, owner {owner}"), 1)?;
        }
        let bench = Bench::new(owner)?;
        program(&bench, None)?;
        bench.check(&format!("undisturbed, owner {owner}"), 0)?;
    }
    Ok(())
}

/// A call that makes the work of one stream come after the work of another stream.
type Await = fn(&Bare, RawStream, RawEvent) -> DriverResult<()>;

const AWAITS: [Await; 2] = [Bare::wait, |bare, _, event| bare.synchronize_event(event)];

/// During the wait for an event, another thread writes and records the event again. Nobody knows which of the two
/// records the wait saw, so a race must be reported.
fn awaited(bench: &Bench, disturbed: Option<Moment>, wait: Await) -> DriverResult<()> {
    let Bench { bare, a, b, event, .. } = bench;
    let (a, b, event) = (*a, *b, *event);
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    match disturbed {
        Some(moment) => {
            bare.record(event, a)?;
            bench.meanwhile(moment, move |driver| {
                foreign::fill_range(driver, a, memory)?;
                foreign::record(driver, event, a)
            });
        }
        None => {
            bare.write(a, memory)?;
            bare.record(event, a)?;
        }
    }
    wait(bare, b, event)?;
    bare.write(b, memory)
}

/// During a record of an event, another thread makes stream `b` wait for the event. The wait may see the event's
/// record from before.
fn wait_during_record(bench: &Bench, disturbed: Option<Moment>) -> DriverResult<()> {
    let Bench { bare, a, b, event, .. } = bench;
    let (a, b, event) = (*a, *b, *event);
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.record(event, a)?;
    bare.write(a, memory)?;
    if let Some(moment) = disturbed {
        bench.meanwhile(moment, move |driver| foreign::wait(driver, b, event));
    }
    bare.record(event, a)?;
    if disturbed.is_none() {
        bare.wait(b, event)?;
    }
    bare.write(b, memory)
}

/// During a download, another thread queues a fill, which the download does not wait for.
fn download(bench: &Bench, disturbed: Option<Moment>) -> DriverResult<()> {
    let Bench { bare, a, b, .. } = bench;
    let (a, b) = (*a, *b);
    let (memory, other) = (bare.allocate(a)?, bare.allocate(a)?);
    bare.order(a, b, true)?;
    bare.write(a, other)?;
    match disturbed {
        Some(moment) => {
            bench.meanwhile(moment, move |driver| foreign::fill_range(driver, a, memory));
        }
        None => bare.write(a, memory)?,
    }
    bare.copy_pageable(CopyKind::DeviceToPageable, a, other)?;
    bare.write(b, memory)?;
    // The memory that the download has read may be written, since the download is complete.
    bare.write(b, other)
}

/// A thread finds work of `c` complete that came after work of `a` and of `b`. Stream `d` then writes memory that
/// `b` has written, and relies on the order after `a` alone: a race. With `right`, `d` relies on the order after
/// `b`.
fn relies(right: bool) -> Result<(), Failed> {
    let bare = Bare::new(Arc::new(HostDriver::builder().policy(Policy::Lazy).build()))?;
    let stream = || bare.stream(STREAM);
    let (a, b, c, d) = (stream()?, stream()?, stream()?, stream()?);
    let (of_a, of_b, of_c) = (bare.event()?, bare.event()?, bare.event()?);
    let memory = bare.allocate(b)?;
    bare.order(b, d, true)?;
    bare.write(b, memory)?;
    bare.record(of_a, a)?;
    // This work of `a` comes after `b`, but is later than the record of `a`, so the record does not come after `b`.
    bare.order(b, a, true)?;
    bare.record(of_b, b)?;
    bare.wait(c, of_a)?;
    bare.wait(c, of_b)?;
    bare.record(of_c, c)?;
    let driver = bare.driver();
    let found = thread::spawn(move || {
        driver.bind(device(0))?;
        foreign::synchronize_event(&*driver, of_c)
    });
    found.join().unwrap_or(Ok(()))?;
    match right {
        true => bare.relies(b, Some(of_b), Some(d)),
        false => bare.relies(a, Some(of_a), Some(d)),
    }
    bare.write(d, memory)?;
    let races = bare.races();
    check(races.races.len() == usize::from(!right), || format!("right: {right}; {races}"))
}

/// Checks a stream that was made without the checker. The default stream comes before and after the stream's
/// work, as CUDA orders blocking streams.
fn foreign_stream() -> Result<(), Failed> {
    for ordered in [true, false] {
        let below = Arc::new(HostDriver::builder().policy(Policy::Lazy).build());
        let flags = StreamFlags::Blocking;
        let options = StreamOptions { flags, ..StreamOptions::default() };
        below.bind(device(0))?;
        let stream = below.create_stream(device(0), options)?;
        let bare = Bare::new(below)?;
        let (default, other) = (bare.default_stream()?, bare.stream(STREAM)?);
        let memory = bare.allocate(default)?;
        bare.order(default, other, true)?;
        bare.write(if ordered { default } else { other }, memory)?;
        bare.copy_pageable(CopyKind::DeviceToPageable, stream, memory)?;
        bare.write(default, memory)?;
        let races = bare.races();
        // The control: nothing orders the other stream's write with the copy and with the second write.
        check(races.races.len() == if ordered { 0 } else { 2 }, || races.to_string())?;
    }
    Ok(())
}
