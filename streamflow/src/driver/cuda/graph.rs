//! CUDA graphs: made from nodes with explicit edges, and instantiated at once.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys;

use super::error::{STICKY, check, check_given_back, explain};
use super::module::{self, Module, What};
use super::submit::{lay_out_params, length, stream_of};
use super::{CudaDriver, context, handle_of, pointer_to, probe};
use crate::driver::graph::{GraphNode, GraphWork};
use crate::driver::{
    Code, CopyKind, CopyOp, DeviceId, DriverResult, Image, KernelSource, Launch, MAX_PARAMS,
    MemoryRange, Param, RawFunction, RawGraph, RawStream,
};

/// A contiguous copy to page-locked memory of at most so many bytes is a kernel: a node that copies makes each launch of
/// its graph dearer, by up to 1 µs.
const SMALL: u64 = 64 << 10;

/// The threads of a block of that kernel, each of which copies a byte.
const THREADS: u32 = 256;

/// Copies `%p2` bytes from `%p1` to `%p0`.
const COPY: &str = "\
.address_size 64
.visible .entry streamflow_copy(.param .u64 to, .param .u64 from, .param .u64 len)
{
    .reg .pred %done;
    .reg .b16 %value;
    .reg .b32 %block, %size, %thread;
    .reg .b64 %index, %limit, %source, %target, %first;
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %thread, %tid.x;
    cvt.u64.u32 %first, %thread;
    mad.wide.u32 %index, %block, %size, %first;
    ld.param.u64 %limit, [len];
    setp.ge.u64 %done, %index, %limit;
    @%done ret;
    ld.param.u64 %source, [from];
    ld.param.u64 %target, [to];
    add.s64 %source, %source, %index;
    add.s64 %target, %target, %index;
    ld.u8 %value, [%source];
    st.u8 [%target], %value;
    ret;
}
";

/// The functions of this file.
const FUNCTIONS: &[&str] = &[
    "cuGraphAddKernelNode_v2",
    "cuGraphAddMemcpyNode",
    "cuGraphAddMemsetNode",
    "cuGraphCreate",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
];

/// The kernel of small copies, per device, once it is needed.
pub(super) type Copiers = Mutex<Vec<(DeviceId, RawFunction)>>;

/// A graph that is being made. It is destroyed when it is instantiated, or when that fails.
struct Template {
    raw: sys::CUgraph,
    device: DeviceId,
}

impl Drop for Template {
    fn drop(&mut self) {
        if STICKY.get().is_some() {
            return;
        }
        // SAFETY: it is this value's alone.
        let result = unsafe { sys::cuGraphDestroy(self.raw) };
        let destroyed = check_given_back("cuGraphDestroy", self.device, result);
        crate::driver::error::report_in_drop("destroying a graph", destroyed);
    }
}

impl CudaDriver {
    /// [`Driver::create_graph`](crate::driver::Driver::create_graph).
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn make_graph(
        &self,
        device: DeviceId,
        nodes: &[GraphNode<'_>],
    ) -> DriverResult<RawGraph> {
        STICKY.usable("cuGraphCreate")?;
        probe::optional(FUNCTIONS, "graphs", "12.0, release 525 or later")?;
        context::bind(&self.device(device)?.context, device)?;
        let mut raw: sys::CUgraph = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one handle.
        let result = unsafe { sys::cuGraphCreate(&raw mut raw, 0) };
        check("cuGraphCreate", device, result)?;
        let template = Template { raw, device };
        // What comes after a node comes after these nodes of CUDA: a node without work has those before it.
        let mut made: Vec<Vec<sys::CUgraphNode>> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let mut after: Vec<sys::CUgraphNode> = Vec::new();
            for before in node.after.iter().filter_map(|before| made.get(*before as usize)) {
                before.iter().for_each(|node| {
                    if !after.contains(node) {
                        after.push(*node);
                    }
                });
            }
            // SAFETY: the caller's contract.
            let added = unsafe { self.add_node(&template, &after, &node.work) }?;
            made.push(added.map_or(after, |node| vec![node]));
        }
        let mut exec: sys::CUgraphExec = std::ptr::null_mut();
        // SAFETY: a place for one handle, and the graph that was just made.
        let result = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut exec, template.raw, 0) };
        check("cuGraphInstantiateWithFlags", device, result)?;
        Ok(RawGraph::new(device, handle_of(exec)))
    }

    /// Adds a node; `None` for work that needs none.
    ///
    /// # Safety
    /// As for `make_graph`.
    unsafe fn add_node(
        &self,
        graph: &Template,
        after: &[sys::CUgraphNode],
        work: &GraphWork<'_>,
    ) -> DriverResult<Option<sys::CUgraphNode>> {
        match work {
            GraphWork::Launch(launch) => {
                // SAFETY: the caller's contract.
                unsafe { self.add_kernel(graph, after, launch) }.map(Some)
            }
            GraphWork::Copy(copy) if copy.bytes() == 0 => Ok(None),
            GraphWork::Copy(copy)
                if copy.kind == CopyKind::DeviceToPinned
                    && copy.rows.is_none()
                    && copy.source.bytes <= SMALL =>
            {
                // SAFETY: as above. Page-locked memory has the same address on the device.
                unsafe { self.add_small_copy(graph, after, copy) }.map(Some)
            }
            GraphWork::Copy(copy) => {
                // SAFETY: as above.
                unsafe { self.add_copy(graph, after, copy) }.map(Some)
            }
            GraphWork::Fill { range, .. } if range.bytes == 0 => Ok(None),
            GraphWork::Fill { range, byte } => {
                // SAFETY: as above.
                unsafe { self.add_fill(graph, after, *range, *byte) }.map(Some)
            }
            GraphWork::Recycle { .. } => Ok(None),
        }
    }

    unsafe fn add_kernel(
        &self,
        graph: &Template,
        after: &[sys::CUgraphNode],
        launch: &Launch<'_>,
    ) -> DriverResult<sys::CUgraphNode> {
        if launch.shared_bytes > 0 {
            let most = self.device(graph.device)?.info.max_shared_bytes;
            self.functions.allow_shared(launch, most)?;
        }
        let mut params = [std::ptr::null_mut(); MAX_PARAMS];
        lay_out_params(launch, &mut params)?;
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        let description = sys::CUDA_KERNEL_NODE_PARAMS {
            func: pointer_to(launch.function.handle()),
            gridDimX: gx,
            gridDimY: gy,
            gridDimZ: gz,
            blockDimX: bx,
            blockDimY: by,
            blockDimZ: bz,
            sharedMemBytes: launch.shared_bytes,
            kernelParams: params.as_mut_ptr(),
            extra: std::ptr::null_mut(),
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        };
        let mut node: sys::CUgraphNode = std::ptr::null_mut();
        // SAFETY: a place for one handle; the graph and the nodes are those that were made here; the function is loaded.
        // CUDA copies the description and the parameters before the call returns.
        let result = unsafe {
            sys::cuGraphAddKernelNode_v2(
                &raw mut node,
                graph.raw,
                after.as_ptr(),
                after.len(),
                &raw const description,
            )
        };
        check("cuGraphAddKernelNode", graph.device, result)
            .map_err(|error| explain(error, || launch.describe()))?;
        Ok(node)
    }

    unsafe fn add_small_copy(
        &self,
        graph: &Template,
        after: &[sys::CUgraphNode],
        copy: &CopyOp,
    ) -> DriverResult<sys::CUgraphNode> {
        let (function, bytes) = (self.copier(graph.device)?, copy.source.bytes);
        let params =
            [Param::new(copy.target.address), Param::new(copy.source.address), Param::new(bytes)];
        let launch = Launch {
            function,
            name: "streamflow_copy",
            grid: [bytes.div_ceil(u64::from(THREADS)) as u32, 1, 1],
            block: [THREADS, 1, 1],
            shared_bytes: 0,
            params: &params,
            accesses: &[],
        };
        // SAFETY: these are the kernel's parameters, and the caller vouches for both ranges.
        unsafe { self.add_kernel(graph, after, &launch) }
    }

    /// The kernel of small copies.
    fn copier(&self, device: DeviceId) -> DriverResult<RawFunction> {
        let mut copiers = self.copiers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, function)) = copiers.iter().find(|(of, _)| *of == device) {
            return Ok(*function);
        }
        // CUDA 13 knows no architecture before 7.5, and a GPU before it takes no code for 7.5.
        let is_old = self.device(device)?.info.compute_capability < (7, 5);
        let target = if is_old { "sm_52" } else { "sm_75" };
        let image = Image(format!(".version 7.0\n.target {target}\n{COPY}").into_bytes());
        // SAFETY: the image is text.
        let loaded = unsafe { Module::load(device, What::Kernel("streamflow_copy"), &image) }?;
        let handle = loaded.handle();
        self.keep(loaded);
        let source = KernelSource {
            name: "streamflow_copy",
            entry: "streamflow_copy",
            host: None,
            code: Code::Module(crate::driver::RawModule::new(device, handle)),
        };
        // SAFETY: the module was just loaded by this driver, which keeps it.
        let function = unsafe { module::function(device, handle, &source) }?;
        let function = self.functions.add(device, function)?.function;
        copiers.push((device, function));
        Ok(function)
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
        let mut node: sys::CUgraphNode = std::ptr::null_mut();
        // SAFETY: as for a kernel. The caller vouches for both ranges when the graph is launched.
        let result = unsafe {
            sys::cuGraphAddMemcpyNode(
                &raw mut node,
                graph.raw,
                after.as_ptr(),
                after.len(),
                &raw const description,
                context,
            )
        };
        check("cuGraphAddMemcpyNode", graph.device, result)?;
        Ok(node)
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
        let mut node: sys::CUgraphNode = std::ptr::null_mut();
        // SAFETY: as for a copy.
        let result = unsafe {
            sys::cuGraphAddMemsetNode(
                &raw mut node,
                graph.raw,
                after.as_ptr(),
                after.len(),
                &raw const description,
                context,
            )
        };
        check("cuGraphAddMemsetNode", graph.device, result)?;
        Ok(node)
    }

    fn context_of(&self, device: DeviceId) -> DriverResult<sys::CUcontext> {
        Ok(self.device(device)?.context.cu_ctx())
    }

    /// [`Driver::launch_graph`](crate::driver::Driver::launch_graph).
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn submit_graph(
        &self,
        graph: RawGraph,
        stream: RawStream,
    ) -> DriverResult<()> {
        STICKY.usable("cuGraphLaunch")?;
        // SAFETY: both are live, by the caller's contract.
        let result = unsafe { sys::cuGraphLaunch(pointer_to(graph.handle()), stream_of(stream)) };
        check("cuGraphLaunch", stream.device(), result)
    }

    /// [`Driver::destroy_graph`](crate::driver::Driver::destroy_graph).
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn give_back_graph(&self, graph: RawGraph) -> DriverResult<()> {
        if STICKY.get().is_some() {
            return Ok(());
        }
        // SAFETY: the caller destroys a graph of this driver, once, whose launches are complete.
        let result = unsafe { sys::cuGraphExecDestroy(pointer_to(graph.handle())) };
        check_given_back("cuGraphExecDestroy", graph.device(), result)
    }
}
