// The operator has a port that the interface lacks.
use streamflow::prelude::*;

operator_interface! {
    /// A source of numbers.
    pub trait Source {
        output number: u64;
    }
}

/// An operator.
#[operator(implements(Source))]
pub struct Camera {
    #[output]
    number: u64,
    #[output]
    depth: u64,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())?;
        io.depth.emit(cx.tick())
    }
}

fn main() {}
