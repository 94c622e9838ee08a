//! A layer that launches no kernel, and logs launches instead.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use streamflow::driver::{Driver, DriverError, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::graph::{GraphNode, GraphWork};
use streamflow_driver::driver::{
    Code, KernelSource, Launch, Layer, Libraries, LibraryCall, LibraryCalls, LoadedKernel,
};
use streamflow_driver::driver::{DriverResult, Image};

/// A layer above a `libcuda` that has only one kernel, which stands for all others. A launch writes a line to a file, and
/// is not passed to the driver below.
pub struct Unlaunched {
    below: Arc<dyn Driver>,
    log: File,
    /// Whether library calls that may be captured are captured.
    captures: bool,
}

impl fmt::Debug for Unlaunched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unlaunched").field("below", &self.below).finish_non_exhaustive()
    }
}

impl Unlaunched {
    /// The name of the only kernel in that `libcuda`.
    const ENTRY: &str = "add";

    /// Creates the layer above a driver.
    pub fn new(below: Arc<dyn Driver>, log: File) -> Self {
        Self { below, log, captures: false }
    }

    /// Like [`new`](Self::new), but each library call that may be captured is captured, and not made. The libraries queue
    /// nothing, so such a capture ends with an error.
    pub fn capturing(below: Arc<dyn Driver>, log: File) -> Self {
        Self { captures: true, ..Self::new(below, log) }
    }
}

// SAFETY: kernels are not executed, so their results are the bytes that the memory had before. The layer is only for
// tests of which calls are made.
unsafe impl Layer for Unlaunched {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        let (name, entry, image) =
            (source.name, Self::ENTRY, |_| Ok(Image(b".version 8.0".to_vec())));
        let source = KernelSource { name, entry, host: None, code: Code::Image(&image) };
        pass!([unsafe] self.below.load_kernel(device, &source))
    }

    unsafe fn launch(&self, _: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        // An error is ignored: the test that reads the file then finds that a line is missing.
        let _written = (&self.log).write_all(format!("launch {}\n", launch.name).as_bytes());
        Ok(())
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }
}

// SAFETY: kernels are not executed, so their results are the bytes that the memory had before.
unsafe impl Libraries for Unlaunched {
    // Plans make their calls as on a GPU, without the values that only the simulator and checkers read.
    fn library_calls(&self) -> LibraryCalls {
        self.below.libraries().library_calls()
    }

    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        if !(self.captures && call.is_captured) {
            return pass!([unsafe] self.below.libraries().call_library(stream, call));
        }
        let node = GraphNode { work: GraphWork::Library(call), after: &[] };
        let captured = pass!([unsafe] self.below.create_graph(stream.device(), &[node]));
        match captured {
            Err(error) if error.to_string().contains("queued nothing on the stream") => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(DriverError::Unavailable {
                what: format!("an error of a capture of `{}` without work", call.function),
                remedy: "check the number of captured nodes".into(),
            }),
        }
    }
}
