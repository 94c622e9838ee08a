// The operator takes the message that the interface only reads.
use streamflow::prelude::*;

operator_interface! {
    /// A sink of images.
    pub trait Sink {
        input image: &Tensor<f32>;
    }
}

/// An operator.
#[operator(implements(Sink))]
pub struct Show {
    #[input]
    image: Tensor<f32>,
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.image.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

fn main() {}
