//! Small copies to page-locked memory in a graph, made by a kernel: a copy node makes each launch of its graph cost more.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys;

use super::Template;
use crate::driver::cuda::CudaDriver;
use crate::driver::cuda::module::{self, Module, What};
use crate::driver::{
    Code, CopyOp, DeviceId, DriverResult, Image, KernelSource, Launch, Param, RawFunction,
};

/// The threads of a block of the copying kernel. Each thread copies a byte.
const THREADS: u32 = 256;

/// The PTX of a kernel that copies `%p2` bytes from the address `%p1` to the address `%p0`.
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

/// The kernel of small copies on each device that has needed one so far.
pub(in crate::driver::cuda) type Copiers = Mutex<Vec<(DeviceId, RawFunction)>>;

impl CudaDriver {
    /// Adds a copy to page-locked memory, as a kernel.
    ///
    /// # Safety
    /// The contract is that of `make_graph`. The two ranges have the same length, without gaps.
    pub(super) unsafe fn add_small_copy(
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
            rows: &[],
        };
        // SAFETY: these are the kernel's parameters, and the caller vouches for the two ranges.
        unsafe { self.add_kernel(graph, after, &launch) }
    }

    /// Returns the kernel of small copies, and loads it on first use.
    fn copier(&self, device: DeviceId) -> DriverResult<RawFunction> {
        let mut copiers = self.copiers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, function)) = copiers.iter().find(|(of, _)| *of == device) {
            return Ok(*function);
        }
        // CUDA 13 has no architecture before 7.5, and a GPU older than 7.5 runs no code for 7.5.
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
        // SAFETY: the module was just loaded by this driver, and the driver keeps it.
        let function = unsafe { module::function(device, handle, &source) }?;
        let function = self.functions.add(device, function)?.function;
        copiers.push((device, function));
        Ok(function)
    }
}
