//! Checks of a driver's answers, where memory accesses and indices rely on them.
//!
//! [`Driver`] is an `unsafe` trait, and a layer that a user writes may break its contract. If the answer itself shows
//! that, the caller gets [`DriverError::Contract`], and not an access to other memory or a panic. The checks are in the
//! calls that make an object, not in the calls that queue work.

use std::time::Duration;

use super::{
    DeviceId, Driver, DriverError, DriverResult, LoadedKernel, MemoryRange, RawModule, RawStream,
};

/// The alignment of an allocation, by the contract of [`Driver`].
const ALIGNMENT: u64 = 256;

#[cold]
fn broken(call: &'static str, device: DeviceId, problem: String) -> DriverError {
    DriverError::Contract { call, device, problem }
}

/// Checks the memory that a driver returned for a request of so many bytes. Refused memory is not freed: its owner is unknown.
pub fn check_allocated(
    call: &'static str,
    device: DeviceId,
    bytes: u64,
    range: MemoryRange,
) -> DriverResult<MemoryRange> {
    let is_real = range.address != 0 || bytes == 0;
    if range.bytes == bytes && range.address.is_multiple_of(ALIGNMENT) && is_real {
        return Ok(range);
    }
    let MemoryRange { address, bytes: found } = range;
    let problem = format!(
        "{bytes} bytes at a multiple of {ALIGNMENT} were requested, and it returned {found} at {address:#x}"
    );
    Err(broken(call, device, problem))
}

/// Checks that an object which was made for `device` belongs to it.
pub(super) fn check_device(
    call: &'static str,
    device: DeviceId,
    found: DeviceId,
) -> DriverResult<()> {
    if found == device {
        return Ok(());
    }
    Err(broken(call, device, format!("it returned an object of {found}")))
}

/// Checks a kernel that was made ready for `device`. Its block size must not be 0: launches without a block size divide by it.
pub fn check_loaded(device: DeviceId, loaded: LoadedKernel) -> DriverResult<LoadedKernel> {
    const CALL: &str = "load_kernel";
    check_device(CALL, device, loaded.function.device())?;
    let LoadedKernel { block_size, max_block_size, .. } = loaded;
    if (1..=max_block_size).contains(&block_size) {
        return Ok(loaded);
    }
    let problem =
        format!("it returned blocks of {block_size} threads, of at most {max_block_size}");
    Err(broken(CALL, device, problem))
}

/// Checks compiled code that was loaded on `device`.
pub fn check_module(device: DeviceId, module: RawModule) -> DriverResult<RawModule> {
    check_device("load_module", device, module.device())?;
    Ok(module)
}

/// Checks a stream that was made for `device`, and has one owner from now on.
pub(super) fn check_made(
    driver: &dyn Driver,
    device: DeviceId,
    stream: RawStream,
) -> DriverResult<()> {
    check_device("create_stream", device, stream.device())?;
    if stream == driver.default_stream(device) {
        return Err(broken("create_stream", device, "it returned the default stream".to_owned()));
    }
    Ok(())
}

/// Checks the milliseconds between two events.
pub(super) fn check_elapsed(device: DeviceId, milliseconds: f64) -> DriverResult<f64> {
    if Duration::try_from_secs_f64(milliseconds.abs() / 1e3).is_ok() {
        return Ok(milliseconds);
    }
    Err(broken("elapsed", device, format!("it returned {milliseconds} ms, which is no time")))
}

/// Checks the number of green contexts that a driver returned for `sizes` sizes: one for each size, and perhaps one for
/// the remaining multiprocessors.
pub fn check_divided(device: DeviceId, sizes: usize, found: usize) -> DriverResult<()> {
    if found == sizes || found == sizes + 1 {
        return Ok(());
    }
    let problem = format!("{sizes} green contexts were requested, and it returned {found}");
    Err(broken("create_green_contexts", device, problem))
}

/// The longest chain of observers; a longer one is taken for a cycle.
const MOST_OBSERVERS: usize = 1000;

/// Returns whether work goes on while the host makes no call, which the last observer of a driver knows. The chain of
/// observers must have an end.
pub fn check_observers(driver: &dyn Driver) -> DriverResult<bool> {
    let mut last = driver.observer();
    for _ in 0..MOST_OBSERVERS {
        let Some(next) = last.next() else { return Ok(last.works_alone()) };
        last = next;
    }
    let problem = "an observer is the next one of itself, or of one behind it";
    Err(broken("observer", DeviceId(0), problem.to_owned()))
}

/// Returns the error of a driver whose observers do not lead to the simulator of its simulated device, so that no fact
/// reaches the simulator. Such a driver executes work only within calls: if its observer said otherwise, a scheduler
/// would sleep forever.
#[cold]
pub fn told_nothing(simulated: DeviceId) -> DriverError {
    let problem = "its observer, or the next one of an observer, is not that of the driver below: the simulator is told nothing";
    broken("observer", simulated, problem.to_owned())
}
