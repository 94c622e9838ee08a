//! The work of a library's call, captured as a graph (CUDA C++ Programming Guide, *Creating a Graph Using Stream Capture*).
//!
//! The body queues its work on a stream that exists for the capture alone, so no other thread can add work to it. The capture
//! has the thread-local mode: a body that allocates, frees or waits meanwhile makes the capture fail, and allocations
//! of other threads do not. A wait or a record for the whole context makes a capture fail on any thread and in each
//! mode (same guide, *Prohibited and Unhandled Operations*). `CudaDriver` makes such calls when it is dropped or gets
//! memory back from other code, and so does `cublasDestroy`. The waiting call fails too: then memory comes back later,
//! and code stays loaded. The caller of a capture has to expect that failure.
//!
//! The stream does not wait for the legacy default stream, so work there neither fails nor ends a capture.

use cudarc::driver::sys;

use super::Template;
use crate::driver::cuda::error::{STICKY, check, explain, failure};
use crate::driver::cuda::submit::stream_of;
use crate::driver::cuda::{CudaDriver, context};
use crate::driver::{
    DeviceId, Driver, DriverResult, LibraryCall, RawStream, StreamOptions, report_unless_refused,
};

/// A stream that exists for one capture, and is destroyed also if the body unwinds.
struct Capturing<'a> {
    driver: &'a CudaDriver,
    stream: RawStream,
    has_begun: bool,
}

impl Capturing<'_> {
    fn begin(&mut self) -> DriverResult<()> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is this value's.
        let result = unsafe { sys::cuStreamBeginCapture_v2(stream_of(self.stream), mode) };
        check("cuStreamBeginCapture", self.stream.device(), result)?;
        self.has_begun = true;
        Ok(())
    }

    /// Ends the capture. The returned graph has all work of the capture.
    fn end(&mut self) -> DriverResult<Template> {
        let device = self.stream.device();
        self.has_begun = false;
        // The library's body, which ran during the capture, may have lost the device.
        STICKY.usable("cuStreamEndCapture")?;
        let mut raw: sys::CUgraph = std::ptr::null_mut();
        // SAFETY: the stream is this value's, and CUDA writes one handle to `raw`.
        let result = unsafe { sys::cuStreamEndCapture(stream_of(self.stream), &raw mut raw) };
        check("cuStreamEndCapture", device, result)?;
        Ok(Template { raw, device })
    }
}

impl Drop for Capturing<'_> {
    fn drop(&mut self) {
        if self.has_begun {
            report_unless_refused("ending a capture", self.end().map(drop));
        }
        // SAFETY: the stream is this value's, and is not used any more.
        let destroyed = unsafe { self.driver.destroy_stream(self.stream) };
        report_unless_refused("destroying the stream of a capture", destroyed);
    }
}

impl CudaDriver {
    /// Returns a graph of the work that the body for a device queues.
    ///
    /// # Safety
    /// The contract is that of `make_graph`.
    pub(super) unsafe fn capture(
        &self,
        device: DeviceId,
        call: &LibraryCall<'_>,
    ) -> DriverResult<Template> {
        let stream = self.create_stream(device, StreamOptions::default())?;
        let mut capturing = Capturing { driver: self, stream, has_begun: false };
        capturing.begin()?;
        let called = (call.device)(stream);
        let captured = capturing.end();
        // The body is the caller's code, and may have made another device current. The device is bound again, since the
        // caller may next make the library call without a graph.
        let bind = || context::bind(&self.device(device)?.context, device);
        let bound = STICKY.usable("cuCtxSetCurrent").and_then(|()| bind());
        // The library's own error says more than the error of the capture that the library has made invalid.
        if let Err(error) = called {
            // SAFETY: the stream is live.
            return Err(unsafe { self.library_failed(stream, call.function, error) });
        }
        let about = || format!("the work of `{}` was being captured", call.function);
        let captured = captured.map_err(|error| explain(error, about))?;
        bound?;
        let mut nodes = 0;
        // SAFETY: the graph was just made, and CUDA writes one number to `nodes`. Without a list, the call stores the number of
        // nodes.
        let result =
            unsafe { sys::cuGraphGetNodes(captured.raw, std::ptr::null_mut(), &raw mut nodes) };
        check("cuGraphGetNodes", device, result)?;
        if nodes > 0 {
            return Ok(captured);
        }
        let refused =
            failure("cuStreamEndCapture", device, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
        Err(explain(refused, || {
            format!(
                "`{}` was captured, and queued nothing on the stream that it got: it had nothing to do, or has done it \
                 elsewhere",
                call.function
            )
        }))
    }
}

impl Template {
    /// Adds a copy of another graph as one node.
    pub(super) fn add_graph(
        &self,
        after: &[sys::CUgraphNode],
        other: &Self,
    ) -> DriverResult<sys::CUgraphNode> {
        // SAFETY: CUDA writes one handle to `node`; both graphs are alive, and the nodes belong to this graph. CUDA
        // copies the other graph.
        self.add("cuGraphAddChildGraphNode", after, |node, graph, after, count| unsafe {
            sys::cuGraphAddChildGraphNode(node, graph, after, count, other.raw)
        })
    }
}
