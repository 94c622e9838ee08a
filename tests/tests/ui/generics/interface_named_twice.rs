// The operator names an interface twice.
use streamflow::prelude::*;

operator_interface! {
    /// A source.
    pub trait Source {
        output number: u64;
    }
}

/// An operator.
#[operator(implements(Source, Source))]
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
