//! All pools of a platform, so that memory that is free in one is there for the others: before an allocation is refused,
//! and by [`Platform::trim`](crate::Platform::trim).

use std::any::Any;
use std::sync::{Arc, OnceLock, Weak};

use super::pool_state::QueuedFrees;
use crate::driver::{DeviceId, first_error};
use crate::error::{Error, Result};
use crate::lock::{Lock, locked};
use crate::stream::StreamTable;
use crate::sync::{Mutex, MutexGuard};

/// The name of the failed work, in the log.
const WHAT: &str = "giving free memory back";

/// A pool of device memory, as the other pools of its device use it.
pub(super) trait DevicePool: Send + Sync {
    /// Its name, and its bytes in use and free.
    fn amounts(&self) -> (String, u64, u64);

    /// Queues the frees of all free blocks. Returns how many bytes these have, and the frees that are queued. No other thread
    /// waits meanwhile for longer than it takes to queue them.
    fn queue_frees(&self) -> (Result<u64>, QueuedFrees);

    /// Waits until the device has done these frees.
    ///
    /// # Errors
    /// The driver's.
    fn finish_frees(&self, frees: QueuedFrees) -> Result<()>;
}

/// A pool of page-locked host memory, as the other pools of its platform use it.
pub(super) trait HostPool: Any + Send + Sync {
    /// Frees the free blocks beyond `keep` bytes. Returns how many bytes that were.
    ///
    /// # Errors
    /// The driver's.
    fn give_back_free(&self, keep: u64) -> Result<u64>;
}

/// The number of free page-locked bytes of a device that stay after a run, so that a program of short runs with small
/// downloads need not make their memory again in each.
const KEPT_AFTER_A_RUN: u64 = 16 << 20;

/// The pools of a platform, by device. They are beside its streams, and own none of the pools: a pool owns the table of
/// the streams.
pub(crate) struct Pools(Box<[OfDevice]>);

/// The pools of one device.
#[derive(Default)]
pub(super) struct OfDevice {
    /// The platform's own pool, and those of its allocators.
    memory: Lock<Vec<Weak<dyn DevicePool>>>,
    /// The one from which every stream gets page-locked memory, without a lock.
    pinned: OnceLock<Weak<dyn HostPool>>,
    /// Held by a thread for which the driver has no memory, until it has some. It is taken before any lock of a pool.
    out_of_memory: Mutex<()>,
}

/// How much memory was given back, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Trimmed {
    /// Device memory, of all devices.
    pub device: u64,
    /// Page-locked host memory.
    pub pinned: u64,
}

impl Pools {
    /// The pools of the platform of a table.
    pub(crate) fn of(table: &StreamTable) -> &Self {
        table.beside(|| {
            let devices = table.device_count();
            Self((0..devices).map(|_| OfDevice::default()).collect())
        })
    }

    pub(super) fn of_device(&self, device: DeviceId) -> &OfDevice {
        &self.0[device.index()]
    }

    /// How many pools of device memory are remembered.
    #[cfg(all(test, not(loom)))]
    pub(super) fn known_pools(&self, device: DeviceId) -> usize {
        self.of_device(device).memory.lock().len()
    }

    /// The pools of page-locked memory of all devices.
    pub(super) fn pinned(&self) -> Vec<Arc<dyn HostPool>> {
        self.0.iter().filter_map(|of_device| of_device.pinned.get()?.upgrade()).collect()
    }

    /// Gives all free memory of all devices back. After an error it goes on with the others.
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

    /// Gives the free page-locked memory back that a run leaves, except for a little.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn end_of_run(table: &StreamTable) -> Result<()> {
        let pools = Self::of(table).pinned();
        pools.iter().try_for_each(|pool| pool.give_back_free(KEPT_AFTER_A_RUN).map(drop))
    }
}

impl OfDevice {
    /// Adds a pool of device memory, and forgets those that are dropped.
    pub(super) fn add(&self, pool: Weak<dyn DevicePool>) {
        let mut all = self.memory.lock();
        all.retain(|known| known.strong_count() > 0);
        all.push(pool);
    }

    /// The pools of device memory.
    pub(super) fn pools(&self) -> Vec<Arc<dyn DevicePool>> {
        self.memory.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Sets the pool of page-locked memory. The first one stays.
    pub(super) fn set_pinned(&self, pool: Weak<dyn HostPool>) {
        // An `Err` means that there is one already.
        let _first = self.pinned.set(pool);
    }

    /// The pool of page-locked memory, until its platform is dropped.
    pub(super) fn pinned<P: HostPool>(&self) -> Option<Arc<P>> {
        let pool: Arc<dyn Any + Send + Sync> = self.pinned.get()?.upgrade()?;
        pool.downcast().ok()
    }

    /// Waits until no other thread is out of memory, and is the one that is.
    pub(super) fn out_of_memory(&self) -> MutexGuard<'_, ()> {
        locked(&self.out_of_memory)
    }
}

/// Frees all free blocks of pools of one device after their uses, and waits until that is done. Returns how many bytes these
/// have. After an error it goes on with the others.
pub(super) fn give_back_free(pools: &[Arc<dyn DevicePool>]) -> Result<u64> {
    let (mut bytes, mut done) = (0, Ok(()));
    // All are queued first, so that the device frees them together.
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
