//! Builds a CUDA graph by calls of the driver, with all kinds of work as nodes.

use std::cell::RefCell;
use std::sync::Arc;

use streamflow::device;
use streamflow::driver::{Driver, DriverError, RawStream};
use streamflow::library::LibraryError;
use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;
use streamflow_driver::driver::Image;
use streamflow_driver::driver::graph::{GraphNode, GraphWork};
use streamflow_driver::driver::{
    Code, CopyKind, CopyOp, CopyRows, KernelSource, Launch, LibraryBody, LibraryCall, MemoryRange,
    Param, RawGraph,
};

use super::ADD_PTX;

/// A graph that is destroyed when its owner is dropped, after its launches are complete.
#[derive(Debug)]
struct Graph {
    driver: Arc<dyn Driver>,
    raw: RawGraph,
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: this value owns the graph, and the program has waited for its launches.
        if let Err(error) = unsafe { self.driver.destroy_graph(self.raw) } {
            tracing::error!(%error, "destroying a graph");
        }
    }
}

impl Graph {
    fn launch_blocking(&self, stream: RawStream) -> Result<()> {
        // SAFETY: the graph and the stream are alive, and the graph's memory is borrowed by the caller.
        unsafe {
            self.driver.launch_graph(self.raw, stream)?;
            Ok(self.driver.synchronize_stream(stream)?)
        }
    }
}

/// Launches a graph twice that fills `data` by a call and by two calls of a library, at last with ones, adds a number to each
/// element, copies it in rows to `copy`, and from there to the host, twice: by a small copy and by one from page-locked memory
/// and back. The number is 3, and then 4.
///
/// # Errors
/// Those of the driver.
pub fn twice(
    platform: &Platform,
    stream: &CudaStream,
    [data, copy]: [&mut DeviceSlice<u32>; 2],
    result: &mut [u32],
) -> Result<()> {
    let (driver, raw) = (platform.driver().clone(), stream.raw());
    let len = result.len() as u64;
    let bytes = len * 4;
    let host = MemoryRange { address: result.as_mut_ptr().expose_provenance() as u64, bytes };
    let [data, copy] = [data, copy].map(|slice| stream.write_raw(slice, |address| address));
    let [data, copy] = [data?, copy?].map(|address| MemoryRange { address, bytes });
    let image = Image(ADD_PTX.as_bytes().to_vec());
    // SAFETY: the image is text, and the module is this driver's.
    let add = unsafe {
        let module = driver.load_module(device(0), "add", &image)?;
        let source =
            KernelSource { name: "add", entry: "add", host: None, code: Code::Module(module) };
        driver.load_kernel(device(0), &source)?
    };
    let params = [Param::new(data.address), Param::new(len), Param::new(3_u32)];
    let launch = Launch {
        function: add.function,
        name: "add",
        grid: [len.div_ceil(256) as u32, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 64 << 10,
        params: &params,
        accesses: &[],
        rows: &[],
    };
    let rows = CopyRows {
        bytes: 4,
        count: len,
        source_pitch: 4,
        target_pitch: 4,
        target_is_padded: false,
    };
    let op = |kind, source, target, rows| GraphWork::Copy(CopyOp { kind, target, source, rows });
    // SAFETY: no simulator runs it.
    let body = unsafe { LibraryBody::new("fill", |_| Ok(())) };
    // A library returns statuses of its own, which don't say why a CUDA call failed. So the CUDA error is stored here.
    let cause = RefCell::new(None);
    let filled = |stream: RawStream, byte| -> Result<(), LibraryError> {
        // SAFETY: the memory is `data`, and the stream is alive.
        let filled = unsafe { driver.fill(stream, data, byte) };
        let status = i32::from(filled.is_err());
        *cause.borrow_mut() = filled.err();
        LibraryError::check("the tests' library", "fill", status, |_| "TEST_FILL_FAILED")
    };
    let of_cuda = |error: DriverError| cause.take().unwrap_or(error);
    let [twos, ones] = [2, 1].map(|byte| move |stream: RawStream| filled(stream, byte));
    let [twos, ones]: [&dyn Fn(RawStream) -> Result<(), LibraryError>; 2] = [&twos, &ones];
    let [twos, ones] = [twos, ones].map(|device| LibraryCall {
        function: "fill",
        params: &[],
        accesses: &[],
        rows: &[],
        is_captured: true,
        host: &body,
        device,
    });
    driver.bind(device(0))?;
    let captured = [GraphNode { work: GraphWork::Library(&ones), after: &[] }];
    // SAFETY: the call fills only `data`, which is borrowed until the last launch is complete.
    let captured = unsafe { driver.create_graph(device(0), &captured) }.map_err(of_cuda)?;
    let captured = Graph { driver: driver.clone(), raw: captured };
    let nodes = [
        (GraphWork::Fill { range: data, byte: 3 }, &[][..]),
        (GraphWork::Library(&twos), &[0]),
        (GraphWork::Graph(captured.raw), &[1]),
        (GraphWork::Launch(launch), &[2]),
        (op(CopyKind::DeviceToDevice, data, copy, Some(rows)), &[3]),
        (GraphWork::Recycle { range: data }, &[4]),
        (op(CopyKind::DeviceToPinned, copy, host, None), &[5]),
        (op(CopyKind::PinnedToDevice, host, copy, None), &[6]),
        (op(CopyKind::DeviceToPinned, copy, host, Some(rows)), &[6, 7]),
    ];
    let nodes = nodes.map(|(work, after)| GraphNode { work, after });
    // SAFETY: the kernel touches only `data`, and all memory is borrowed until the last launch is complete.
    let graph = unsafe { driver.create_graph(device(0), &nodes) }.map_err(of_cuda)?;
    // The captured graph may go, since the new graph has a copy of it as a node.
    drop(captured);
    let graph = Graph { driver: driver.clone(), raw: graph };
    graph.launch_blocking(raw)?;
    let params = [params[0], params[1], Param::new(4_u32)];
    let launch = Launch { params: &params, ..launch };
    // SAFETY: the fourth node is this launch, with another value of one parameter.
    unsafe { graph.driver.set_graph_kernel(graph.raw, 3, &launch) }?;
    graph.launch_blocking(raw)
}
