//! The nodes of a graph: kernels, copies and fills.

use std::mem::MaybeUninit;

use cudarc::driver::sys;

use super::{Template, executable};
use crate::driver::cuda::error::explain;
use crate::driver::cuda::submit::{Addresses, lay_out_params, length};
use crate::driver::cuda::{CudaDriver, pointer_to};
use crate::driver::graph::GraphWork;
use crate::driver::{CopyKind, CopyOp, DeviceId, DriverResult, Launch, MAX_PARAMS, MemoryRange};

/// The most bytes of a contiguous copy to page-locked memory that is made by a kernel: a copy node makes each launch of
/// its graph cost more, by up to 1 µs.
const SMALL: u64 = 64 << 10;

impl CudaDriver {
    /// Adds a node. Returns `None` for work that needs no node.
    ///
    /// # Safety
    /// The contract is that of `make_graph`.
    pub(super) unsafe fn add_node(
        &self,
        graph: &Template,
        after: &[sys::CUgraphNode],
        work: &GraphWork<'_>,
    ) -> DriverResult<Option<sys::CUgraphNode>> {
        match work {
            GraphWork::Launch(launch) => {
                // SAFETY: the caller keeps the contract of this function.
                unsafe { self.add_kernel(graph, after, launch) }.map(Some)
            }
            GraphWork::Copy(copy) if copy.bytes() == 0 => Ok(None),
            GraphWork::Copy(copy)
                if copy.kind == CopyKind::DeviceToPinned
                    && copy.rows.is_none()
                    && copy.source.bytes <= SMALL =>
            {
                // SAFETY: the caller's contract covers the copy. Page-locked memory has the same address on the device.
                unsafe { self.add_small_copy(graph, after, copy) }.map(Some)
            }
            GraphWork::Copy(copy) => {
                // SAFETY: the caller's contract covers the copy.
                unsafe { self.add_copy(graph, after, copy) }.map(Some)
            }
            GraphWork::Fill { range, .. } if range.bytes == 0 => Ok(None),
            GraphWork::Fill { range, byte } => {
                // SAFETY: the caller's contract covers the fill.
                unsafe { self.add_fill(graph, after, *range, *byte) }.map(Some)
            }
            GraphWork::Recycle { .. } => Ok(None),
            GraphWork::Library(call) => {
                // SAFETY: the caller keeps the contract of this function.
                let captured = unsafe { self.capture(graph.device, call) }?;
                graph.add_graph(after, &captured).map(Some)
            }
            GraphWork::Graph(other) => {
                // SAFETY: the other graph is live, by the caller's contract.
                graph.add_graph(after, &unsafe { executable(*other) }.template).map(Some)
            }
        }
    }

    /// Adds a kernel.
    ///
    /// # Safety
    /// The contract is that of `make_graph`.
    pub(super) unsafe fn add_kernel(
        &self,
        graph: &Template,
        after: &[sys::CUgraphNode],
        launch: &Launch<'_>,
    ) -> DriverResult<sys::CUgraphNode> {
        if launch.shared_bytes > 0 {
            let most = self.device(graph.device)?.info.max_shared_bytes;
            self.functions.allow_shared(launch, most)?;
        }
        let mut room: Addresses = [MaybeUninit::uninit(); MAX_PARAMS];
        let description = describe(launch, &mut room)?;
        // SAFETY: CUDA writes one handle to `node`; the nodes are of this graph, and the function is loaded. CUDA
        // copies the description and the parameters before the call returns.
        let add = |node, graph, after, count| unsafe {
            sys::cuGraphAddKernelNode_v2(node, graph, after, count, &raw const description)
        };
        let added = graph.add("cuGraphAddKernelNode", after, add);
        added.map_err(|error| explain(error, || launch.describe()))
    }

    unsafe fn add_copy(
        &self,
        graph: &Template,
        after: &[sys::CUgraphNode],
        copy: &CopyOp,
    ) -> DriverResult<sys::CUgraphNode> {
        let (host, device) =
            (sys::CUmemorytype::CU_MEMORYTYPE_HOST, sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
        let (from, to) = match copy.kind {
            CopyKind::PinnedToDevice | CopyKind::PageableToDevice => (host, device),
            CopyKind::DeviceToPinned | CopyKind::DeviceToPageable => (device, host),
            CopyKind::DeviceToDevice | CopyKind::Peer { .. } => (device, device),
        };
        let (width, height, from_pitch, to_pitch) = match &copy.rows {
            None => (length(copy.source), 1, 0, 0),
            Some(rows) => (
                rows.bytes as usize,
                rows.count as usize,
                rows.source_pitch as usize,
                rows.target_pitch as usize,
            ),
        };
        let description = sys::CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: from,
            srcHost: pointer_to(copy.source.address),
            srcDevice: copy.source.address,
            srcArray: std::ptr::null_mut(),
            reserved0: std::ptr::null_mut(),
            srcPitch: from_pitch,
            srcHeight: 0,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: to,
            dstHost: pointer_to(copy.target.address),
            dstDevice: copy.target.address,
            dstArray: std::ptr::null_mut(),
            reserved1: std::ptr::null_mut(),
            dstPitch: to_pitch,
            dstHeight: 0,
            WidthInBytes: width,
            Height: height,
            Depth: 1,
        };
        let context = self.context_of(graph.device)?;
        // SAFETY: CUDA writes one handle to `node`; the nodes are of this graph. The caller vouches for the two ranges
        // at each launch.
        let add = |node, graph, after, count| unsafe {
            sys::cuGraphAddMemcpyNode(node, graph, after, count, &raw const description, context)
        };
        graph.add("cuGraphAddMemcpyNode", after, add)
    }

    unsafe fn add_fill(
        &self,
        graph: &Template,
        after: &[sys::CUgraphNode],
        range: MemoryRange,
        byte: u8,
    ) -> DriverResult<sys::CUgraphNode> {
        let description = sys::CUDA_MEMSET_NODE_PARAMS {
            dst: range.address,
            pitch: 0,
            value: u32::from(byte),
            elementSize: 1,
            width: length(range),
            height: 1,
        };
        let context = self.context_of(graph.device)?;
        // SAFETY: CUDA writes one handle to `node`; the nodes are of this graph. The caller vouches for the range at
        // each launch.
        let add = |node, graph, after, count| unsafe {
            sys::cuGraphAddMemsetNode(node, graph, after, count, &raw const description, context)
        };
        graph.add("cuGraphAddMemsetNode", after, add)
    }

    fn context_of(&self, device: DeviceId) -> DriverResult<sys::CUcontext> {
        Ok(self.device(device)?.context.cu_ctx())
    }
}

/// Returns a launch in the form that CUDA's graphs take. The description points to the addresses in `room`.
pub(super) fn describe(
    launch: &Launch<'_>,
    room: &mut Addresses,
) -> DriverResult<sys::CUDA_KERNEL_NODE_PARAMS> {
    let params = lay_out_params(launch, room)?;
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
    Ok(sys::CUDA_KERNEL_NODE_PARAMS {
        func: pointer_to(launch.function.handle()),
        gridDimX: gx,
        gridDimY: gy,
        gridDimZ: gz,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: launch.shared_bytes,
        kernelParams: params,
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    })
}
