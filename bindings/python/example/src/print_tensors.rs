//! Holoscan's `PingTensorRxOp`: prints the tensors that it receives.

use std::io::{self, Write};

use streamflow::message::TensorMap;
use streamflow::prelude::*;

/// Prints the names, types and shapes of the tensors of each message, and passes it on.
#[operator]
pub struct PrintTensors {
    #[input]
    tensors: TensorMap,
    #[output]
    printed: TensorMap,
    verbose: bool,
}

impl Compute for PrintTensors {
    fn compute(&mut self, io: PrintTensorsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensors, _) = io.tensors.receive().receive_cuda_stream(cx)?;
        if self.verbose {
            for (name, tensor) in tensors.iter() {
                let (dtype, shape) = (tensor.dtype(), tensor.shape());
                writeln!(
                    io::stdout(),
                    "{}, tick {}: {name}: {dtype}{shape:?}",
                    cx.node(),
                    cx.tick()
                )?;
            }
        }
        io.printed.emit(tensors)
    }
}
