//! Green contexts: parts of a device's multiprocessors, each with streams of its own.
//!
//! Green contexts share the primary context's memory, kernels and events, so only streams are made in them (CUDA
//! driver API, *Green Contexts*).

use std::sync::{Arc, PoisonError};

use cudarc::driver::{CudaContext, sys};

use super::error::{check, check_given_back, code_of, explain, failure};
use super::{CudaDriver, context, handle_of, optional, pointer_to};
use crate::driver::error::report_in_drop;
use crate::driver::{
    Coscheduling, DeviceId, DriverResult, GreenContext, SmSizes, StreamFlags, StreamOptions,
};

/// `CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING`; the enum's name changed between versions.
const IGNORE_SM_COSCHEDULING: u32 = 1;

/// `CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION`: there are too few multiprocessors for a split.
const INVALID_RESOURCE_CONFIGURATION: i32 = 915;

const SPLIT: &str = "cuDevSmResourceSplitByCount";

/// A green context, which is not destroyed before the driver is dropped.
#[derive(Debug)]
pub(super) struct Green {
    context: Arc<CudaContext>,
    device: DeviceId,
    handle: u64,
    destroy: unsafe extern "C" fn(sys::CUgreenCtx) -> sys::CUresult,
}

impl Drop for Green {
    fn drop(&mut self) {
        context::bind_to_give_back(&self.context, self.device, || {
            // SAFETY: this value is the only owner of the context. The context's streams hold a reference to the
            // driver, so no stream is left.
            let result = unsafe { (self.destroy)(pointer_to(self.handle)) };
            let destroyed = check_given_back("cuGreenCtxDestroy", self.device, result);
            report_in_drop("destroying a green context", destroyed);
        });
    }
}

impl CudaDriver {
    /// [`Driver::sm_sizes`](crate::driver::Driver::sm_sizes): asks CUDA for a part of one multiprocessor, and then for
    /// a part with one more than CUDA gave. CUDA rounds each size up to a legal size, so the first part is the
    /// smallest, and the difference of the two parts is the step between sizes.
    pub(super) fn probe_sm_sizes(
        &self,
        id: DeviceId,
        coscheduling: Coscheduling,
    ) -> DriverResult<SmSizes> {
        let all = self.all_multiprocessors(id)?;
        let total = count(&all);
        // A device that can't be divided has one size: all its multiprocessors.
        let Some((first, _)) = split(id, &all, coscheduling, 1)? else {
            return Ok(SmSizes { total, smallest: total, step: total.max(1) });
        };
        let smallest = count(&first);
        let second =
            if smallest < total { split(id, &all, coscheduling, smallest + 1)? } else { None };
        let more = second.map_or(0, |(second, _)| count(&second).saturating_sub(smallest));
        Ok(SmSizes { total, smallest, step: if more > 0 { more } else { total.max(1) } })
    }

    /// [`Driver::create_green_contexts`](crate::driver::Driver::create_green_contexts).
    pub(super) fn divide(
        &self,
        id: DeviceId,
        coscheduling: Coscheduling,
        sizes: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        let mut rest = self.all_multiprocessors(id)?;
        let mut parts = Vec::new();
        for (done, &size) in sizes.iter().enumerate() {
            if done > 0 && is_multiprocessors(&rest) {
                // The multiprocessors that a split leaves over can be split again only after a green context was made
                // of them (CUDA driver API, `cuDevSmResourceSplitByCount`).
                rest = self.divisible(id, &mut rest)?;
            }
            match split(id, &rest, coscheduling, size)? {
                Some((part, left)) if count(&part) == size => {
                    parts.push(part);
                    rest = left;
                }
                other => {
                    let given = other.map_or(0, |(part, _)| count(&part));
                    let invalid = failure(SPLIT, id, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
                    return Err(explain(invalid, || {
                        format!("{size} multiprocessors were requested, and CUDA offers {given}")
                    }));
                }
            }
        }
        if is_multiprocessors(&rest) && count(&rest) > 0 {
            parts.push(rest);
        }
        parts.iter_mut().map(|part| self.make(id, part)).collect()
    }

    /// Returns all multiprocessors of a device, and binds the device's context.
    fn all_multiprocessors(&self, id: DeviceId) -> DriverResult<sys::CUdevResource> {
        // `cuGreenCtxStreamCreate` is the newest function for green contexts: a driver that lacks it could give a green
        // context no work.
        optional::cuGreenCtxStreamCreate.get()?;
        let resource_of = optional::cuDeviceGetDevResource.get()?;
        let on = self.device(id)?;
        context::bind(&on.context, id)?;
        let mut all = nothing();
        // SAFETY: CUDA writes one resource to `all`; the device is open.
        let result = unsafe {
            resource_of(
                on.context.cu_device(),
                &raw mut all,
                sys::CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM,
            )
        };
        check("cuDeviceGetDevResource", id, result)?;
        Ok(all)
    }

    /// Returns the same multiprocessors in a form that can be split: as the resource of a new green context. The driver
    /// keeps this context, like all green contexts, and makes no streams in it.
    fn divisible(
        &self,
        id: DeviceId,
        part: &mut sys::CUdevResource,
    ) -> DriverResult<sys::CUdevResource> {
        let resource_of = optional::cuGreenCtxGetDevResource.get()?;
        let green = self.make(id, part)?;
        let all = self.green.lock().unwrap_or_else(PoisonError::into_inner);
        let mut resource = nothing();
        // SAFETY: the context was just made and is kept; CUDA writes one resource to `resource`.
        let result = unsafe {
            resource_of(
                pointer_to(all[green.index as usize].handle),
                &raw mut resource,
                sys::CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM,
            )
        };
        check("cuGreenCtxGetDevResource", id, result)?;
        Ok(resource)
    }

    fn make(&self, id: DeviceId, part: &mut sys::CUdevResource) -> DriverResult<GreenContext> {
        let describe = optional::cuDevResourceGenerateDesc.get()?;
        let (create, destroy) =
            (optional::cuGreenCtxCreate.get()?, optional::cuGreenCtxDestroy.get()?);
        let context = &self.device(id)?.context;
        let multiprocessors = count(part);
        let mut description: sys::CUdevResourceDesc = std::ptr::null_mut();
        // SAFETY: `part` is one resource that CUDA made, and CUDA writes one handle to `description` and owns its object.
        let result = unsafe { describe(&raw mut description, part, 1) };
        check("cuDevResourceGenerateDesc", id, result)?;
        let mut green: sys::CUgreenCtx = std::ptr::null_mut();
        // `CU_GREEN_CTX_DEFAULT_STREAM` is the only value of the flags that CUDA accepts.
        let flags = sys::CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM as u32;
        // SAFETY: CUDA writes one handle to `green`; the description was just made, and the device is open.
        let result = unsafe { create(&raw mut green, description, context.cu_device(), flags) };
        check("cuGreenCtxCreate", id, result)?;
        let mut all = self.green.lock().unwrap_or_else(PoisonError::into_inner);
        let index = all.len() as u32;
        all.push(Green { context: context.clone(), device: id, handle: handle_of(green), destroy });
        Ok(GreenContext { device: id, index, multiprocessors })
    }

    /// Creates a stream of a green context.
    pub(super) fn green_stream(
        &self,
        id: DeviceId,
        green: GreenContext,
        options: StreamOptions,
    ) -> DriverResult<sys::CUstream> {
        const CALL: &str = "cuGreenCtxStreamCreate";
        let refused = |why: &'static str| {
            let invalid = failure(CALL, id, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
            explain(invalid, || why.to_owned())
        };
        if options.flags == StreamFlags::Blocking {
            return Err(refused("a stream of a green context is non-blocking"));
        }
        let all = self.green.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(owned) = all.get(green.index as usize).filter(|owned| owned.device == id) else {
            return Err(refused("there is no such green context on this device"));
        };
        let create = optional::cuGreenCtxStreamCreate.get()?;
        let mut stream: sys::CUstream = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: CUDA writes one handle to `stream`, and the green context is alive.
        let result =
            unsafe { create(&raw mut stream, pointer_to(owned.handle), flags, options.priority) };
        check(CALL, id, result)?;
        Ok(stream)
    }
}

/// Returns a group of at least `size` multiprocessors, and the multiprocessors that are left over; `None` if no such
/// group can be split off.
fn split(
    id: DeviceId,
    from: &sys::CUdevResource,
    coscheduling: Coscheduling,
    size: u32,
) -> DriverResult<Option<(sys::CUdevResource, sys::CUdevResource)>> {
    let split = optional::cuDevSmResourceSplitByCount.get()?;
    let (mut part, mut rest, mut groups) = (nothing(), nothing(), 1);
    let flags = match coscheduling {
        Coscheduling::Kept => 0,
        Coscheduling::Ignored => IGNORE_SM_COSCHEDULING,
    };
    // SAFETY: CUDA writes one group to `part`, a number to `groups` and a resource to `rest`; CUDA made the resource `from`.
    let result = unsafe { split(&raw mut part, &raw mut groups, from, &raw mut rest, flags, size) };
    if code_of(result) == INVALID_RESOURCE_CONFIGURATION {
        return Ok(None);
    }
    check(SPLIT, id, result)?;
    Ok((groups == 1).then_some((part, rest)))
}

fn nothing() -> sys::CUdevResource {
    // SAFETY: the fields are integers, pointers that may be null, and an enum with a value 0 for "invalid".
    unsafe { std::mem::zeroed() }
}

/// The number of multiprocessors of a resource.
fn count(resource: &sys::CUdevResource) -> u32 {
    // SAFETY: the resource is a resource of multiprocessors, or all zero.
    unsafe { resource.__bindgen_anon_1.sm.smCount }
}

/// Whether the resource has multiprocessors. If a split leaves none over, CUDA returns another kind of resource.
fn is_multiprocessors(resource: &sys::CUdevResource) -> bool {
    resource.type_ == sys::CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM
}
