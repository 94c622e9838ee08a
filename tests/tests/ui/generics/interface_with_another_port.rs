// The operator lacks a port of the interface.
use streamflow::prelude::*;

operator_interface! {
    /// A source of two numbers.
    pub trait Source {
        output number: u64;
        output mask: u64;
    }
}

/// An operator.
#[operator(implements(Source))]
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
