//! The two calls that need more than one CUDA call: copies and launches.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use cudarc::driver::sys;

use super::error::{STICKY, check, explain};
use super::{CudaDriver, pointer_to};
use crate::driver::{
    CopyKind, CopyOp, CopyRows, Driver, DriverError, DriverResult, Launch, MAX_PARAMS, MemoryRange,
    RawStream,
};

/// CUDA's handle of a stream.
pub(super) fn stream_of(stream: RawStream) -> sys::CUstream {
    pointer_to(stream.handle())
}

/// Room for the addresses of a launch's parameters.
pub(super) type Addresses = [MaybeUninit<*mut c_void>; MAX_PARAMS];

/// Fills `room` with the addresses of a launch's parameters: CUDA reads one address for each parameter of the kernel.
#[inline]
pub(super) fn lay_out_params(
    launch: &Launch<'_>,
    room: &mut Addresses,
) -> DriverResult<*mut *mut c_void> {
    let Some(slots) = room.get_mut(..launch.params.len()) else {
        return Err(DriverError::too_many_params(launch.name, launch.params.len()));
    };
    for (slot, param) in slots.iter_mut().zip(launch.params) {
        // SAFETY: the slot belongs to this array. The write is volatile, because the compiler otherwise turns this loop
        // into a long piece of code, with constants from many cache lines; a launch has few parameters.
        unsafe { slot.as_mut_ptr().write_volatile(param.as_ptr().cast_mut()) };
    }
    Ok(room.as_mut_ptr().cast())
}

/// A length as CUDA takes it: `usize` has 64 bits on every platform that CUDA runs on.
pub(super) fn length(range: MemoryRange) -> usize {
    range.bytes as usize
}

impl CudaDriver {
    /// [`Driver::copy`].
    ///
    /// # Safety
    /// The contract is that of `Driver::copy`.
    #[inline]
    pub(super) unsafe fn submit_copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        let (target, source, bytes) = (copy.target, copy.source, length(copy.source));
        let raw = stream_of(stream);
        if let Some(rows) = &copy.rows {
            // SAFETY: the caller keeps the same contract.
            return unsafe { self.submit_rows(stream, copy, rows) };
        }
        let call = match copy.kind {
            CopyKind::PinnedToDevice | CopyKind::PageableToDevice => "cuMemcpyHtoDAsync",
            CopyKind::DeviceToPinned | CopyKind::DeviceToPageable => "cuMemcpyDtoHAsync",
            CopyKind::DeviceToDevice => "cuMemcpyDtoDAsync",
            CopyKind::Peer { .. } => "cuMemcpyPeerAsync",
        };
        STICKY.usable(call)?;
        if bytes == 0 {
            return Ok(());
        }
        let result = match copy.kind {
            CopyKind::PinnedToDevice | CopyKind::PageableToDevice => {
                let source = pointer_to::<c_void>(source.address);
                // SAFETY: the caller vouches for the two ranges until the copy has executed.
                unsafe { sys::cuMemcpyHtoDAsync_v2(target.address, source, bytes, raw) }
            }
            CopyKind::DeviceToPinned | CopyKind::DeviceToPageable => {
                let target = pointer_to::<c_void>(target.address);
                // SAFETY: the caller vouches for the two ranges until the copy has executed.
                unsafe { sys::cuMemcpyDtoHAsync_v2(target, source.address, bytes, raw) }
            }
            CopyKind::DeviceToDevice => {
                // SAFETY: the caller vouches for the two ranges until the copy has executed.
                unsafe { sys::cuMemcpyDtoDAsync_v2(target.address, source.address, bytes, raw) }
            }
            CopyKind::Peer { from, to } => {
                let (from, to) = self.connect_peers(from, to)?;
                // SAFETY: the caller vouches for the two ranges; the contexts belong to the devices, and live as long
                // as the process.
                unsafe {
                    sys::cuMemcpyPeerAsync(target.address, to, source.address, from, bytes, raw)
                }
            }
        };
        check(call, stream.device(), result)?;
        // SAFETY: the stream is live, by the contract of this function.
        unsafe { self.end_copy(stream, copy) }
    }

    /// Ends the submission of a copy: blocks until the copy is complete if the copy's contract requires that.
    ///
    /// # Safety
    /// `stream` is live.
    #[inline]
    unsafe fn end_copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        if copy.kind.blocks_host() {
            // In CUDA a copy with pageable memory *may* be synchronous, and need not be where a device reads such memory
            // itself. The contract of `Driver::copy` requires that it is synchronous.
            // SAFETY: the caller keeps the contract of this function.
            return unsafe { self.synchronize_stream(stream) };
        }
        Ok(())
    }

    /// Queues a copy of rows with gaps between them.
    ///
    /// # Safety
    /// The contract of [`Driver::copy`].
    unsafe fn submit_rows(
        &self,
        stream: RawStream,
        copy: &CopyOp,
        rows: &CopyRows,
    ) -> DriverResult<()> {
        const CALL: &str = "cuMemcpy2DAsync";
        STICKY.usable(CALL)?;
        if copy.bytes() == 0 {
            return Ok(());
        }
        let (host, device) =
            (sys::CUmemorytype::CU_MEMORYTYPE_HOST, sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
        let (from, to) = match copy.kind {
            CopyKind::PinnedToDevice | CopyKind::PageableToDevice => (host, device),
            CopyKind::DeviceToPinned | CopyKind::DeviceToPageable => (device, host),
            CopyKind::DeviceToDevice | CopyKind::Peer { .. } => (device, device),
        };
        // Each side of CUDA's description has a host and a device address. CUDA reads the one for the side's type of memory.
        let both = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: from,
            srcHost: pointer_to(copy.source.address),
            srcDevice: copy.source.address,
            srcArray: std::ptr::null_mut(),
            srcPitch: rows.source_pitch as usize,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: to,
            dstHost: pointer_to(copy.target.address),
            dstDevice: copy.target.address,
            dstArray: std::ptr::null_mut(),
            dstPitch: rows.target_pitch as usize,
            WidthInBytes: rows.bytes as usize,
            Height: rows.count as usize,
        };
        // SAFETY: the caller vouches for all rows of both sides until the copy has executed. CUDA copies the description
        // before the call returns.
        let result = unsafe { sys::cuMemcpy2DAsync_v2(&raw const both, stream_of(stream)) };
        check(CALL, stream.device(), result).map_err(|error| {
            let CopyRows { bytes, count, source_pitch, target_pitch, .. } = rows;
            explain(error, || {
                format!(
                    "copying {count} rows of {bytes} bytes, from a pitch of {source_pitch} to one of {target_pitch}"
                )
            })
        })?;
        // SAFETY: the stream is live, by the contract of this function.
        unsafe { self.end_copy(stream, copy) }
    }

    /// [`Driver::launch`].
    ///
    /// # Safety
    /// The contract is that of `Driver::launch`.
    #[inline]
    pub(super) unsafe fn submit_launch(
        &self,
        stream: RawStream,
        launch: &Launch<'_>,
    ) -> DriverResult<()> {
        STICKY.usable("cuLaunchKernel")?;
        if launch.shared_bytes > 0 {
            let most = self.device(stream.device())?.info.max_shared_bytes;
            self.functions.allow_shared(launch, most)?;
        }
        let mut room: Addresses = [MaybeUninit::uninit(); MAX_PARAMS];
        let params = lay_out_params(launch, &mut room)?;
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        // SAFETY: the function is loaded. Each parameter points to at least as many bytes as the kernel's parameter has,
        // 16-aligned; CUDA only reads them, and copies them before it returns. The caller vouches for their types and for
        // the memory that the kernel touches.
        let result = unsafe {
            sys::cuLaunchKernel(
                pointer_to(launch.function.handle()),
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                launch.shared_bytes,
                stream_of(stream),
                params,
                std::ptr::null_mut(),
            )
        };
        check("cuLaunchKernel", stream.device(), result)
            .map_err(|error| explain(error, || launch.describe()))
    }
}
