// A struct that Rust can't parse. Uses of the operator cause no further errors.
use streamflow::prelude::*;

#[operator]
pub struct Source {
    #[input]
    image: &Tensor<f32>
    #[output]
    number: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

fn main() {}
