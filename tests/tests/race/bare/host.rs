//! Races of work with the host, and what orders them: a wait, a query, a host function, or the declaration that a
//! thread relies on another thread's wait.

use std::sync::Arc;
use std::thread;

use streamflow::driver::RawStream;
use streamflow::driver::host::{HostDriver, Policy};
use streamflow::prelude::*;
use streamflow_driver::driver::{AccessMode, CopyKind, DriverResult};
use streamflow_tests::foreign::Bare;
use streamflow_tests::{Failed, check};

use super::{STREAM, two};

pub(super) fn host_read(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let (a, event) = (bare.stream(STREAM)?, bare.event()?);
    let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
    bare.write(a, memory)?;
    bare.copy(CopyKind::DeviceToPinned, a, memory, pinned)?;
    bare.record(event, a)?;
    if dependency {
        bare.synchronize_event(event)?;
    }
    bare.host(pinned, AccessMode::Read);
    bare.synchronize(a)
}

/// Checks that the host may read memory during the upload of that memory, but may not write it.
pub(super) fn host_write(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
    bare.copy(CopyKind::PinnedToDevice, a, pinned, memory)?;
    bare.host(pinned, AccessMode::Read);
    if dependency {
        bare.synchronize(a)?;
    }
    bare.host(pinned, AccessMode::Write);
    bare.synchronize(a)
}

/// Checks that work which is queued after a wait of the host comes after the awaited work.
pub(super) fn synchronized(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    if dependency {
        bare.synchronize(a)?;
    }
    bare.write(b, memory)
}

pub(super) fn queried(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, b], event) = (two(bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    while dependency && !bare.query_event(event)? {}
    bare.write(b, memory)
}

/// Checks that a copy from pageable memory may return before its data has arrived.
pub(super) fn blocking_copy(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    let kind = if dependency { CopyKind::DeviceToPageable } else { CopyKind::PageableToDevice };
    bare.copy_pageable(kind, a, memory)?;
    bare.write(b, memory)
}

/// Checks that work which one thread has found complete orders another thread's work only if that thread declares
/// that it relies on this.
pub(super) fn another_thread(bare: &Bare, dependency: bool) -> DriverResult<()> {
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
    if dependency {
        bare.relies(a, None, Some(b));
    }
    bare.write(b, memory)
}

/// Checks that the driver itself orders a new owner's work after the free. Another thread waits for the free, so
/// the driver can give the memory to another stream, while this thread has seen no order.
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
    // Only the simulator is known to allocate the same memory again.
    let is_same = given.iter().all(|address| *address == given[0]);
    check(is_same || platform.name() != "host", || format!("inconclusive: {given:x?}"))
}

/// Checks a query under the simulator's lazy policy, in which no work is complete before the host waits.
pub(super) fn incomplete_query() -> Result<(), Failed> {
    let driver = HostDriver::builder().policy(Policy::Lazy).build();
    let bare = Bare::new(Arc::new(driver))?;
    let ([a, b], event) = (two(&bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.synchronize(a)?;
    bare.write(a, memory)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    check(!bare.query_event(event)? && !bare.query(a)?, || "the work is complete already".into())?;
    bare.write(b, memory)?;
    let races = bare.races();
    check(races.races.len() == 1, || races.to_string())
}

/// Checks that a host function which was called shows that all work before it is complete, but only to threads
/// that declare that they rely on this. On the simulator, the submitting thread calls it.
pub(super) fn host_function() -> Result<(), Failed> {
    for relies in [false, true] {
        let driver = HostDriver::builder().policy(Policy::Eager).build();
        let bare = Bare::new(Arc::new(driver))?;
        let a = bare.stream(STREAM)?;
        let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
        bare.write(a, memory)?;
        bare.copy(CopyKind::DeviceToPinned, a, memory, pinned)?;
        check(bare.host_function(a)?, || "the host function was not called".into())?;
        if relies {
            bare.relies(a, None, None);
        }
        bare.host(pinned, AccessMode::Read);
        let races = bare.races();
        check(races.is_empty() == relies, || races.to_string())?;
    }
    Ok(())
}

/// A driver that is used on another thread.
struct BareDriver(Arc<dyn streamflow::driver::Driver>);

impl BareDriver {
    fn wait_for(&self, event: streamflow_driver::driver::RawEvent) -> DriverResult<()> {
        self.0.bind(device(0))?;
        streamflow_tests::foreign::synchronize_event(&*self.0, event)
    }

    fn wait_for_all(&self, stream: RawStream) -> DriverResult<()> {
        self.0.bind(device(0))?;
        streamflow_tests::foreign::synchronize_stream(&*self.0, stream)
    }
}
