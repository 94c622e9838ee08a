// The port is an output of the operator, and an input of the interface.
use streamflow::prelude::*;

operator_interface! {
    /// A sink of numbers.
    pub trait Sink {
        input number: &u64;
    }
}

/// An operator.
#[operator(implements(Sink))]
pub struct Camera {
    #[output]
    number: u64,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

fn main() {}
