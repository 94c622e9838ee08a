//! The list of all pools of a platform. An allocation for which the driver has no memory gives back the free memory of all
//! pools before it fails. [`Platform::trim`](crate::Platform::trim) gives back all free memory.

use std::any::Any;
use std::sync::{Arc, OnceLock, Weak};

use super::pool_state::QueuedFrees;
use crate::driver::{DeviceId, first_error};
use crate::error::{Error, Result};
use crate::lock::{Lock, locked};
use crate::stream::StreamTable;
use crate::sync::{Mutex, MutexGuard};

/// The name of giving memory back, in log lines about a failure of it.
const WHAT: &str = "giving free memory back";

/// The interface of a pool of device memory to the other pools of its device.
pub(super) trait DevicePool: Send + Sync {
    /// The pool's name, its bytes in use, and its free bytes.
    fn amounts(&self) -> (String, u64, u64);

    /// Queues the frees of all free blocks. Returns the number of bytes of these blocks, and the queued frees. Other
    /// threads that need memory of this pool wait at most until the frees are queued, and not until they are executed.
    fn queue_frees(&self) -> (Result<u64>, QueuedFrees);

    /// Waits until the device has executed these frees.
    ///
    /// # Errors
    /// The driver's.
    fn finish_frees(&self, frees: QueuedFrees) -> Result<()>;
}

/// The interface of a pool of page-locked host memory to the other pools of its platform.
pub(super) trait HostPool: Any + Send + Sync {
    /// Frees free blocks until at most `keep` bytes are free. Returns the number of freed bytes.
    ///
    /// # Errors
    /// The driver's.
    fn give_back_free(&self, keep: u64) -> Result<u64>;
}

/// The number of free page-locked bytes of each device that a run's end does not free. With them, a program of short runs
/// with small downloads need not allocate page-locked memory in each run.
const KEPT_AFTER_A_RUN: u64 = 16 << 20;

/// The pools of a platform, by device. The stream table owns this value. This value has only weak references to the pools,
/// because each pool owns a reference to the stream table.
pub(crate) struct Pools(Box<[OfDevice]>);

/// The pools of one device.
#[derive(Default)]
pub(super) struct OfDevice {
    /// The platform's own pool of device memory, and the pools of its allocators.
    memory: Lock<Vec<Weak<dyn DevicePool>>>,
    /// The platform's own pool of device memory, that calls take memory for their time from. It is read without a lock.
    own: OnceLock<Weak<dyn Any + Send + Sync>>,
    /// The pool that all streams of the device take page-locked memory from. It is read without a lock.
    pinned: OnceLock<Weak<dyn HostPool>>,
    /// The mutex that a thread holds for which the driver has no memory, until its allocation succeeds or fails. A thread
    /// locks this mutex before any lock of a pool.
    out_of_memory: Mutex<()>,
}

/// How much memory was given back, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Trimmed {
    /// The bytes of device memory, of all devices.
    pub device: u64,
    /// The bytes of page-locked host memory, of all devices.
    pub pinned: u64,
}

impl Pools {
    /// The pools of the platform to which a stream table belongs.
    pub(crate) fn of(table: &StreamTable) -> &Self {
        table.beside(|| {
            let devices = table.device_count();
            Self((0..devices).map(|_| OfDevice::default()).collect())
        })
    }

    pub(super) fn of_device(&self, device: DeviceId) -> &OfDevice {
        &self.0[device.index()]
    }

    /// The length of the list of a device's pools, which may contain pools that are dropped already.
    #[cfg(all(test, not(loom)))]
    pub(super) fn known_pools(&self, device: DeviceId) -> usize {
        self.of_device(device).memory.lock().len()
    }

    /// The pools of page-locked memory of all devices.
    pub(super) fn pinned(&self) -> Vec<Arc<dyn HostPool>> {
        self.0.iter().filter_map(|of_device| of_device.pinned.get()?.upgrade()).collect()
    }

    /// Gives back all free memory of all devices. After an error, continues with the other devices and pools.
    pub(crate) fn trim(table: &StreamTable) -> Result<Trimmed> {
        let (mut trimmed, mut done) = (Trimmed::default(), Ok(()));
        let all = Self::of(table);
        for (index, of_device) in (0..).zip(&all.0) {
            match give_back_free(&of_device.pools()) {
                Ok(bytes) => trimmed.device += bytes,
                Err(error) => done = first_error(WHAT, done, Err(error)),
            }
            let (driver, device) = (table.driver(), DeviceId(index));
            let trim = table.bind(device).and_then(|()| driver.trim(device, 0));
            done = first_error(WHAT, done, trim.map_err(Error::from));
        }
        for pool in all.pinned() {
            match pool.give_back_free(0) {
                Ok(bytes) => trimmed.pinned += bytes,
                Err(error) => done = first_error(WHAT, done, Err(error)),
            }
        }
        done.map(|()| trimmed)
    }

    /// Gives back the page-locked memory that is free at the end of a run, except [`KEPT_AFTER_A_RUN`] bytes of each device.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn end_of_run(table: &StreamTable) -> Result<()> {
        let pools = Self::of(table).pinned();
        pools.iter().try_for_each(|pool| pool.give_back_free(KEPT_AFTER_A_RUN).map(drop))
    }
}

impl OfDevice {
    /// Adds a pool of device memory, and removes the pools that are dropped.
    pub(super) fn add(&self, pool: Weak<dyn DevicePool>) {
        let mut all = self.memory.lock();
        all.retain(|known| known.strong_count() > 0);
        all.push(pool);
    }

    /// The pools of device memory.
    pub(super) fn pools(&self) -> Vec<Arc<dyn DevicePool>> {
        self.memory.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Sets the platform's own pool of device memory.
    pub(super) fn set_own(&self, pool: Weak<dyn Any + Send + Sync>) {
        // A platform makes one for each device.
        let _first = self.own.set(pool);
    }

    /// The platform's own pool of device memory, whose type is `P`. `None` after the platform was dropped.
    pub(super) fn own<P: Any + Send + Sync>(&self) -> Option<Arc<P>> {
        self.own.get()?.upgrade()?.downcast().ok()
    }

    /// Sets the pool of page-locked memory, if there is none yet.
    pub(super) fn set_pinned(&self, pool: Weak<dyn HostPool>) {
        // `set` fails only if the device has a pool already. That first pool stays.
        let _first = self.pinned.set(pool);
    }

    /// The pool of page-locked memory. `None` after the platform was dropped.
    pub(super) fn pinned<P: HostPool>(&self) -> Option<Arc<P>> {
        let pool: Arc<dyn Any + Send + Sync> = self.pinned.get()?.upgrade()?;
        pool.downcast().ok()
    }

    /// Locks the mutex `out_of_memory`. While the guard lives, no other thread of the device releases the free memory of all
    /// pools.
    pub(super) fn out_of_memory(&self) -> MutexGuard<'_, ()> {
        locked(&self.out_of_memory)
    }
}

/// Frees all free blocks of these pools, which are of one device, and waits until the device has executed the frees. Returns
/// the number of freed bytes. After an error, continues with the other pools.
pub(super) fn give_back_free(pools: &[Arc<dyn DevicePool>]) -> Result<u64> {
    let (mut bytes, mut done) = (0, Ok(()));
    // The frees of all pools are queued before the first wait, so that the device executes them together.
    let queued: Vec<_> = pools.iter().map(|pool| (pool, pool.queue_frees())).collect();
    for (pool, (released, frees)) in queued {
        match released {
            Ok(released) => bytes += released,
            Err(error) => done = first_error(WHAT, done, Err(error)),
        }
        if !frees.are_none() {
            done = first_error(WHAT, done, pool.finish_frees(frees));
        }
    }
    done.map(|()| bytes)
}
