//! Races with the host, and what it may go by: a wait, a question, a host function, what another thread has found.

use std::sync::Arc;
use std::thread;

use streamflow::driver::host::{HostDriver, Policy};
use streamflow::driver::{AccessMode, CopyKind, DriverResult, RawStream};
use streamflow::prelude::*;
use streamflow_tests::foreign::Bare;
use streamflow_tests::{Failed, check};

use super::{STREAM, two};

pub(super) fn host_read(bare: &Bare, edge: bool) -> DriverResult<()> {
    let (a, event) = (bare.stream(STREAM)?, bare.event()?);
    let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
    bare.copy(CopyKind::DeviceToPinned, a, memory, pinned)?;
    bare.record(event, a)?;
    if edge {
        bare.synchronize_event(event)?;
    }
    bare.host(pinned, AccessMode::Read);
    bare.synchronize(a)
}

/// To read what is being uploaded is no race; to write it is one.
pub(super) fn host_write(bare: &Bare, edge: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
    bare.copy(CopyKind::PinnedToDevice, a, pinned, memory)?;
    bare.host(pinned, AccessMode::Read);
    if edge {
        bare.synchronize(a)?;
    }
    bare.host(pinned, AccessMode::Write);
    bare.synchronize(a)
}

/// What is queued after the host has waited comes after what it has waited for.
pub(super) fn synchronized(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    if edge {
        bare.synchronize(a)?;
    }
    bare.write(b, memory)
}

pub(super) fn asked(bare: &Bare, edge: bool) -> DriverResult<()> {
    let ([a, b], event) = (two(bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    while edge && !bare.query_event(event)? {}
    bare.write(b, memory)
}

/// A copy from ordinary memory returns perhaps before the data has arrived.
pub(super) fn blocking_copy(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    let kind = if edge { CopyKind::DeviceToPageable } else { CopyKind::PageableToDevice };
    bare.copy_pageable(kind, a, memory)?;
    bare.write(b, memory)
}

/// What a thread has found complete, another goes by only if it says so.
pub(super) fn another_thread(bare: &Bare, edge: bool) -> DriverResult<()> {
    let ([a, b], event) = (two(bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    let driver = bare.driver();
    let found = thread::spawn(move || {
        let bare = BareDriver(driver);
        bare.wait_for(event)
    });
    found.join().unwrap_or(Ok(()))?;
    if edge {
        bare.relies(a, Some(b));
    }
    bare.write(b, memory)
}

/// The driver sees to it itself that a new owner's work comes after the free. Another thread waits for that, so that the
/// driver can give the memory to another stream, and this thread has seen no order.
pub(super) fn allocated_again(platform: &Platform) -> Result<(), Failed> {
    fn program(bare: &Bare, given: &mut Vec<u64>) -> DriverResult<()> {
        for stream in two(bare)?.into_iter().cycle().take(4) {
            let memory = bare.allocate(stream)?;
            given.push(memory.address);
            bare.write(stream, memory)?;
            bare.free(stream, memory)?;
            let driver = BareDriver(bare.driver());
            let waited = thread::spawn(move || driver.wait_for_all(stream));
            waited.join().unwrap_or(Ok(()))?;
        }
        Ok(())
    }
    let (bare, mut given) = (Bare::new(platform.driver().clone())?, Vec::new());
    program(&bare, &mut given)?;
    let races = bare.races();
    drop(bare);
    let below = platform.take_races();
    check(races.is_empty() && below.is_empty(), || format!("{races}\nbelow: {below}"))?;
    // What a GPU's driver does with memory that was freed is its own affair.
    let is_same = given.iter().all(|address| *address == given[0]);
    check(is_same || platform.name() != "host", || format!("inconclusive: {given:x?}"))
}

/// On the simulator under the lazy policy, nothing is complete before somebody waits.
pub(super) fn unanswered() -> Result<(), Failed> {
    let driver = HostDriver::builder().policy(Policy::Lazy).build();
    let bare = Bare::new(Arc::new(driver))?;
    let ([a, b], event) = (two(&bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.synchronize(a)?;
    bare.write(a, memory)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    check(!bare.query_event(event)? && !bare.query(a)?, || "complete already".into())?;
    bare.write(b, memory)?;
    let races = bare.races();
    check(races.races.len() == 1, || races.to_string())
}

/// That a host function is called says that all before is complete, to whoever goes by it, and to
/// nobody else: on the simulator it is called on the thread that submits.
pub(super) fn host_function() -> Result<(), Failed> {
    for relies in [false, true] {
        let driver = HostDriver::builder().policy(Policy::Eager).build();
        let bare = Bare::new(Arc::new(driver))?;
        let a = bare.stream(STREAM)?;
        let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
        bare.copy(CopyKind::DeviceToPinned, a, memory, pinned)?;
        check(bare.host_function(a)?, || "it was not called".into())?;
        if relies {
            bare.relies(a, None);
        }
        bare.host(pinned, AccessMode::Read);
        let races = bare.races();
        check(races.is_empty() == relies, || races.to_string())?;
    }
    Ok(())
}

/// A driver on another thread.
struct BareDriver(Arc<dyn streamflow::driver::Driver>);

impl BareDriver {
    fn wait_for(&self, event: streamflow::driver::RawEvent) -> DriverResult<()> {
        self.0.bind(device(0))?;
        streamflow_tests::foreign::synchronize_event(&*self.0, event)
    }

    fn wait_for_all(&self, stream: RawStream) -> DriverResult<()> {
        self.0.bind(device(0))?;
        streamflow_tests::foreign::synchronize_stream(&*self.0, stream)
    }
}
