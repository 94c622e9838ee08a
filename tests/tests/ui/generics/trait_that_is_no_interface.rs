// The trait is no interface.
use streamflow::prelude::*;

/// A trait.
pub trait Named {}

/// An operator.
#[operator(implements(Named))]
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
