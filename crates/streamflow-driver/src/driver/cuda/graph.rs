//! CUDA graphs: each is made from nodes with explicit edges, and instantiated at once.

mod capture;
mod copier;
mod nodes;

use std::mem::MaybeUninit;

use cudarc::driver::sys;

pub(super) use self::copier::Copiers;
use super::error::{STICKY, check, check_given_back, explain};
use super::submit::{Addresses, stream_of};
use super::{CudaDriver, context, handle_of, pointer_to};
use crate::driver::graph::{GraphNode, GraphWork};
use crate::driver::{DeviceId, DriverResult, Launch, MAX_PARAMS, RawGraph, RawStream};

/// An executable graph. A [`RawGraph`] handle is the address of an `Executable`.
struct Executable {
    raw: sys::CUgraphExec,
    /// For each node of the list that the graph was made of: the node in the template if it is a kernel launch, else null.
    kernels: Vec<sys::CUgraphNode>,
    /// The template that the executable was instantiated from. CUDA names an executable's nodes by those of the template,
    /// so the template must live on.
    template: Template,
}

/// A graph of CUDA from which an executable graph is instantiated. It lives as long as its executable graph.
struct Template {
    raw: sys::CUgraph,
    device: DeviceId,
}

impl Drop for Template {
    fn drop(&mut self) {
        if STICKY.get().is_some() {
            return;
        }
        // SAFETY: the graph belongs to this value alone.
        let result = unsafe { sys::cuGraphDestroy(self.raw) };
        let destroyed = check_given_back("cuGraphDestroy", self.device, result);
        crate::driver::error::report_in_drop("destroying a graph", destroyed);
    }
}

impl Template {
    /// Adds a node that comes after the nodes in `after`. `add` makes CUDA's call: it takes the address for the new
    /// node's handle, the graph, and the preceding nodes with their number.
    fn add(
        &self,
        call: &'static str,
        after: &[sys::CUgraphNode],
        add: impl FnOnce(
            *mut sys::CUgraphNode,
            sys::CUgraph,
            *const sys::CUgraphNode,
            usize,
        ) -> sys::CUresult,
    ) -> DriverResult<sys::CUgraphNode> {
        // The device may have been lost while an earlier captured graph was destroyed.
        STICKY.usable(call)?;
        let mut node: sys::CUgraphNode = std::ptr::null_mut();
        let result = add(&raw mut node, self.raw, after.as_ptr(), after.len());
        check(call, self.device, result)?;
        Ok(node)
    }
}

impl CudaDriver {
    /// [`Driver::create_graph`](crate::driver::Driver::create_graph).
    ///
    /// # Safety
    /// The contract is that of `Driver::create_graph`.
    pub(super) unsafe fn make_graph(
        &self,
        device: DeviceId,
        nodes: &[GraphNode<'_>],
    ) -> DriverResult<RawGraph> {
        STICKY.usable("cuGraphCreate")?;
        context::bind(&self.device(device)?.context, device)?;
        let mut raw: sys::CUgraph = std::ptr::null_mut();
        // SAFETY: CUDA writes one handle to `raw`.
        let result = unsafe { sys::cuGraphCreate(&raw mut raw, 0) };
        check("cuGraphCreate", device, result)?;
        let template = Template { raw, device };
        // For each node of the list, the nodes of CUDA that a later node must follow. A node without work has the
        // entries of the nodes before it.
        let mut made: Vec<Vec<sys::CUgraphNode>> = Vec::with_capacity(nodes.len());
        let mut kernels = Vec::with_capacity(nodes.len());
        for node in nodes {
            let mut after: Vec<sys::CUgraphNode> = Vec::new();
            for before in node.after.iter().filter_map(|before| made.get(*before as usize)) {
                before.iter().for_each(|node| {
                    if !after.contains(node) {
                        after.push(*node);
                    }
                });
            }
            // SAFETY: the caller keeps the contract of this function.
            let added = unsafe { self.add_node(&template, &after, &node.work) }?;
            let kernel = added.filter(|_| matches!(node.work, GraphWork::Launch(_)));
            kernels.push(kernel.unwrap_or(std::ptr::null_mut()));
            made.push(added.map_or(after, |node| vec![node]));
        }
        STICKY.usable("cuGraphInstantiateWithFlags")?;
        let mut exec: sys::CUgraphExec = std::ptr::null_mut();
        // SAFETY: CUDA writes one handle to `exec`, and the template's graph was just made.
        let result = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut exec, template.raw, 0) };
        check("cuGraphInstantiateWithFlags", device, result)?;
        let executable = Box::new(Executable { raw: exec, kernels, template });
        Ok(RawGraph::new(device, handle_of(Box::into_raw(executable))))
    }

    /// [`Driver::launch_graph`](crate::driver::Driver::launch_graph).
    ///
    /// # Safety
    /// The contract is that of `Driver::launch_graph`.
    pub(super) unsafe fn submit_graph(
        &self,
        graph: RawGraph,
        stream: RawStream,
    ) -> DriverResult<()> {
        STICKY.usable("cuGraphLaunch")?;
        // SAFETY: the graph and the stream are live, by the caller's contract.
        let result = unsafe { sys::cuGraphLaunch(executable(graph).raw, stream_of(stream)) };
        check("cuGraphLaunch", stream.device(), result)
    }

    /// [`Driver::set_graph_kernel`](crate::driver::Driver::set_graph_kernel).
    ///
    /// # Safety
    /// The contract is that of `Driver::set_graph_kernel`.
    pub(super) unsafe fn set_kernel_of_graph(
        &self,
        graph: RawGraph,
        node: u32,
        launch: &Launch<'_>,
    ) -> DriverResult<()> {
        const CALL: &str = "cuGraphExecKernelNodeSetParams";
        STICKY.usable(CALL)?;
        // SAFETY: the graph is live, by the caller's contract.
        let executable = unsafe { executable(graph) };
        let kernel = executable.kernels.get(node as usize).copied().unwrap_or_default();
        let mut room: Addresses = [MaybeUninit::uninit(); MAX_PARAMS];
        let description = nodes::describe(launch, &mut room)?;
        // SAFETY: the executable is live, and the node belongs to its template; CUDA refuses a node that is null. The
        // function is loaded in the node's context. CUDA copies the description and the parameters before the call
        // returns.
        let result = unsafe {
            sys::cuGraphExecKernelNodeSetParams_v2(executable.raw, kernel, &raw const description)
        };
        let set = check(CALL, graph.device(), result);
        set.map_err(|error| explain(error, || launch.describe()))
    }

    /// [`Driver::destroy_graph`](crate::driver::Driver::destroy_graph).
    ///
    /// # Safety
    /// The contract is that of `Driver::destroy_graph`.
    pub(super) unsafe fn give_back_graph(&self, graph: RawGraph) -> DriverResult<()> {
        if STICKY.get().is_some() {
            return Ok(());
        }
        // SAFETY: the handle points to a box that `make_graph` has made, and the caller destroys the graph once.
        let executable = unsafe { Box::from_raw(pointer_to::<Executable>(graph.handle())) };
        // SAFETY: no call uses the executable any more; its queued launches still execute. Its template is destroyed after it.
        let result = unsafe { sys::cuGraphExecDestroy(executable.raw) };
        check_given_back("cuGraphExecDestroy", graph.device(), result)
    }
}

/// The executable graph that a handle points to.
///
/// # Safety
/// The graph is live, and a [`CudaDriver`] has made it.
unsafe fn executable<'a>(graph: RawGraph) -> &'a Executable {
    // SAFETY: `make_graph` has made the box, and the box lives until the graph is destroyed.
    unsafe { &*pointer_to::<Executable>(graph.handle()) }
}
