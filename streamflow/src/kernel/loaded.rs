//! The kernels that are loaded on a device, found without a lock.

use std::sync::{Mutex, OnceLock};

use crate::driver::{DriverResult, LoadedKernel};
use crate::lock::locked;
use crate::log;

/// The number of slots, more than most programs have kernels. A kernel that finds no free slot takes the lock at each launch.
const SLOTS: usize = 512;

/// The loaded kernels of one device. The key of a kernel is the address of its `KernelInfo`.
#[derive(Debug)]
pub(super) struct LoadedKernels {
    /// A table with open addressing. A slot is filled once and never emptied.
    slots: Box<[OnceLock<(usize, LoadedKernel)>]>,
    overflow: Mutex<Vec<(usize, LoadedKernel)>>,
}

impl LoadedKernels {
    pub(super) fn new() -> Self {
        let slots = (0..SLOTS).map(|_| OnceLock::new()).collect();
        Self { slots, overflow: Mutex::default() }
    }

    /// Returns the kernel for `key`. The first call loads it with `load`.
    pub(super) fn get(
        &self,
        key: usize,
        load: impl FnOnce() -> DriverResult<LoadedKernel>,
    ) -> DriverResult<LoadedKernel> {
        for slot in self.probe(key) {
            match slot.get() {
                Some((found, kernel)) if *found == key => return Ok(*kernel),
                Some(_) => {}
                None => break,
            }
        }
        self.insert(key, load)
    }

    #[cold]
    fn insert(
        &self,
        key: usize,
        load: impl FnOnce() -> DriverResult<LoadedKernel>,
    ) -> DriverResult<LoadedKernel> {
        let _later = log::later();
        // The lock is held while a kernel is loaded, so that two threads never compile the same kernel.
        let mut overflow = locked(&self.overflow);
        let in_slots = self.probe(key).map_while(OnceLock::get);
        if let Some((_, kernel)) = in_slots.chain(overflow.iter()).find(|(found, _)| *found == key)
        {
            return Ok(*kernel);
        }
        let kernel = load()?;
        let free = self.probe(key).find(|slot| slot.get().is_none());
        if free.is_none_or(|slot| slot.set((key, kernel)).is_err()) {
            overflow.push((key, kernel));
        }
        Ok(kernel)
    }

    fn probe(&self, key: usize) -> impl Iterator<Item = &OnceLock<(usize, LoadedKernel)>> {
        // The structs `KernelInfo` have tens of bytes each and lie side by side in memory, so the low bits of their addresses
        // differ little.
        let start = (key >> 5) % SLOTS;
        self.slots[start..].iter().chain(&self.slots[..start])
    }
}
