//! The return of adopted memory to its owner, after the last use of the memory.

use std::ffi::c_void;
use std::sync::Arc;

use super::reaper;
use crate::driver::{HostFunction, report_in_drop};
use crate::error::Result;
use crate::memory::MemoryPool;
use crate::memory::border::Owner;
use crate::memory::border::counts::Count;
use crate::memory::border::task::{Task, entry};
use crate::memory::pooled::PooledBlock;
use crate::sync::{AtomicUsize, Ordering};

/// The name of ordering the return of memory, in log lines about a failure of it.
const ORDERING: &str = "ordering the return of memory to its owner";

/// The argument of the host function on the reclaim stream that passes an owner to the reaper.
struct Ready {
    owner: Owner,
    returning: Arc<AtomicUsize>,
}

/// The task of returning adopted memory when the reclaim stream could not be made to wait for its uses, or to call the host
/// function. The reaper thread waits for the uses.
struct Unordered {
    block: Box<PooledBlock<MemoryPool>>,
    is_disowned: bool,
}

impl Unordered {
    /// Blocks until all uses are complete.
    ///
    /// # Errors
    /// The owner, if the device has failed: the device may still use the memory.
    fn wait(mut self) -> Result<Owner, Owner> {
        let pool = self.block.pool_handle().clone();
        let mut waited = self.block.wait_for_streams(&pool.table);
        if !self.is_disowned {
            waited = waited.and_then(|()| disown(&pool, &self.block));
        }
        let Some(owner) = self.block.owner.take() else { unreachable!("it is taken once") };
        match waited {
            Ok(()) => Ok(owner),
            Err(error) => {
                report_in_drop("giving memory back", Err(error));
                Err(owner)
            }
        }
    }
}

impl Task for Unordered {
    fn execute(self: Box<Self>) -> Option<Box<dyn Task>> {
        match self.wait() {
            Ok(owner) => reaper::give_back(owner),
            Err(owner) => reaper::leak_owner(owner),
        }
        None
    }

    fn count(&self) -> Count {
        Count::Adopted
    }
}

impl PooledBlock<MemoryPool> {
    /// Returns the memory of an adopted block to its owner after the drop of its tensor. Does not wait: the owner gets the
    /// memory after the last use.
    pub(in crate::memory) fn return_to_owner(mut self: Box<Self>) {
        // This reference keeps the pool alive until the host function is queued. The drop of a pool waits for queued host
        // functions, so the pool must not be dropped in the middle of this function.
        let pool = self.pool_handle().clone();
        if pool.table.driver().sticky_error().is_some() {
            // The device may still use the memory, so its owner is leaked.
            if let Some(owner) = self.owner.take() {
                reaper::leak_owner(owner);
            }
            return;
        }
        if let Err(error) = order(&pool, &mut self) {
            report_in_drop(ORDERING, Err(error));
            return reaper::add(entry(Unordered { block: self, is_disowned: false }));
        }
        if let Some(owner) = self.owner.take()
            && let Err(owner) = queue(&pool, owner)
        {
            self.owner = Some(owner);
            reaper::add(entry(Unordered { block: self, is_disowned: true }));
        }
    }
}

/// Queues a host function on the reclaim stream. The function passes the owner to the reaper.
///
/// # Errors
/// The owner, if the driver refuses the function.
fn queue(pool: &MemoryPool, owner: Owner) -> Result<(), Owner> {
    let returning = pool.border.returning.clone();
    returning.fetch_add(1, Ordering::Relaxed);
    let data: *mut Ready = Box::into_raw(Box::new(Ready { owner, returning }));
    let function = HostFunction { call: ready, data: data.cast() };
    // SAFETY: the timeline owns its stream. Only this call of `ready` gets the data. `ready` makes no CUDA call and does
    // not unwind.
    let queued = unsafe { pool.table.driver().launch_host_function(pool.reclaim.raw(), function) };
    let Err(error) = queued else { return Ok(()) };
    report_in_drop(ORDERING, Err(error));
    // SAFETY: the pointer came from `into_raw`. The host function that would have owned the data will not be called.
    let Ready { owner, returning } = *unsafe { Box::from_raw(data) };
    returning.fetch_sub(1, Ordering::Relaxed);
    Err(owner)
}

/// Makes the reclaim stream come after all uses of the block.
fn order(pool: &MemoryPool, block: &mut PooledBlock<MemoryPool>) -> Result<()> {
    pool.reclaim.bind()?;
    block.wait_for_uses(&pool.reclaim, &pool.table)?;
    disown(pool, block)
}

fn disown(pool: &MemoryPool, block: &PooledBlock<MemoryPool>) -> Result<()> {
    if block.range().bytes == 0 {
        return Ok(());
    }
    // SAFETY: the timeline owns its stream. The block was adopted, and is being dropped. The stream has waited for the
    // block's uses, or the host has.
    Ok(unsafe { pool.table.driver().observer().disown(pool.reclaim.raw(), block.range()) }?)
}

unsafe extern "C" fn ready(data: *mut c_void) {
    // SAFETY: `queue` made `data`, and passed it to this call alone.
    let Ready { owner, returning } = *unsafe { Box::from_raw(data.cast::<Ready>()) };
    reaper::add(reaper::giving_back(owner));
    returning.fetch_sub(1, Ordering::Release);
}

impl MemoryPool {
    /// On a driver that executes work only inside of calls, waits until the queued host functions that give memory back have
    /// been called.
    pub(in crate::memory) fn finish_returning(&self) {
        let driver = self.table.driver();
        let is_needed =
            self.border.returning.load(Ordering::Acquire) > 0 && !driver.observer().works_alone();
        if is_needed && driver.sticky_error().is_none() {
            let done = self.reclaim.bind().and_then(|()| self.reclaim.synchronize(&self.table));
            report_in_drop("giving memory back", done);
        }
    }
}
