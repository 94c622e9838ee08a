// The option names no interface.
use streamflow::prelude::*;

/// An operator.
#[operator(implements)]
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
