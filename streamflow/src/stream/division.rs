//! Divides a device's multiprocessors into green contexts, once for each description. Pools with equal descriptions share the
//! partitions.

use super::green::refused;
use super::{CudaGreenContext, CudaGreenContextPool, CudaStream, GreenContexts, StreamTable};
use crate::driver::{DriverError, GreenContext, SmSizes, promise};
use crate::error::{Error, Result};
use crate::log;

/// Returns all sizes that a partition may have, as a text for errors.
fn list(sizes: &SmSizes) -> String {
    sizes.legal().map(|size| size.to_string()).collect::<Vec<_>>().join(", ")
}

/// Checks the sizes of a description against the sizes that the device allows.
fn check(pool: &CudaGreenContextPool, sizes: &SmSizes) -> Result<()> {
    let SmSizes { total, .. } = *sizes;
    if let Some(wrong) = pool.sizes().iter().find(|size| !sizes.is_legal(**size)) {
        let problem = format!("{wrong} is not one of its sizes; choose from {}", list(sizes));
        return Err(refused(pool, problem, None));
    }
    let sum: u64 = pool.sizes().iter().map(|&size| u64::from(size)).sum();
    if sum > u64::from(total) {
        let problem = format!("their sum is {sum}, and it has {total}; make some smaller");
        return Err(refused(pool, problem, None));
    }
    Ok(())
}

impl StreamTable {
    /// Returns the partitions of a description. The first call for a description makes them.
    pub(crate) fn green_contexts(&self, pool: &CudaGreenContextPool) -> Result<GreenContexts> {
        if let Some(problem) = pool.problem("") {
            return Err(refused(pool, problem.into_text(), None));
        }
        let devices = self.device_count();
        if pool.device.index() >= devices {
            let (who, device) = ("a green context pool".to_owned(), pool.device);
            return Err(Error::NoSuchDevice { who, device, devices });
        }
        let _later = log::later();
        let mut known = self.green.lock();
        if let Some(found) = known.iter().find(|known| known.pool.divides_as(pool)) {
            return Ok(GreenContexts { pool: *pool, contexts: found.contexts.clone() });
        }
        let driver = self.driver();
        self.bind(pool.device)?;
        let sizes = driver.sm_sizes(pool.device, pool.coscheduling)?;
        check(pool, &sizes)?;
        let made = driver.create_green_contexts(pool.device, pool.coscheduling, pool.sizes());
        let made = made.map_err(|cause| self.not_divided(pool, &sizes, cause))?;
        promise::check_divided(pool.device, pool.sizes().len(), made.len())?;
        let made = GreenContexts { pool: *pool, contexts: made.into() };
        known.push(made.clone());
        Ok(made)
    }

    /// Makes the error for a division that the driver refuses although each size is legal. The sum of the sizes may still be too
    /// much for the hardware: only the driver knows which multiprocessors can be in one partition.
    fn not_divided(
        &self,
        pool: &CudaGreenContextPool,
        sizes: &SmSizes,
        cause: DriverError,
    ) -> Error {
        if !matches!(cause, DriverError::Call { .. }) || self.driver().sticky_error().is_some() {
            return cause.into();
        }
        let problem = format!(
            "each is one of its sizes, which are {}, but the driver refused them together; make some \
             smaller, or name them in another order: {cause}",
            list(sizes)
        );
        refused(pool, problem, Some(cause))
    }

    /// Returns the live green context for the description of one.
    pub(super) fn green(&self, context: &CudaGreenContext) -> Result<GreenContext> {
        self.green_contexts(&context.pool)?.get(context)
    }
}

impl CudaStream {
    /// The green context to whose multiprocessors the stream's kernels are restricted; `None` if kernels use the whole device.
    pub fn green_context(&self) -> Option<GreenContext> {
        self.timeline().options().green
    }
}
