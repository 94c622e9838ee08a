//! CUDA graphs: made from nodes with explicit edges, and instantiated at once.

mod copier;
mod nodes;

use cudarc::driver::sys;

pub(super) use self::copier::Copiers;
use super::error::{STICKY, check, check_given_back};
use super::submit::stream_of;
use super::{CudaDriver, context, handle_of, pointer_to, probe};
use crate::driver::graph::GraphNode;
use crate::driver::{DeviceId, DriverResult, RawGraph, RawStream};

/// The functions of graphs.
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

impl Template {
    /// Adds a node after others. `add` makes the call, with a place for the node, the graph, and the nodes before it with
    /// their number.
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
