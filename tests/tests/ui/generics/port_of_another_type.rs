// The operator's port has another message than that of the interface.
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
    number: f64,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick() as f64)
    }
}

fn main() {}
