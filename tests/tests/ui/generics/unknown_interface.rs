// No interface has this name.
use streamflow::prelude::*;

/// An operator.
#[operator(implements(Sauce))]
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
