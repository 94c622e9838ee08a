// An input of many gives several messages.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input(many)]
    images: &Tensor<f32>,
    #[input(size = 2)]
    pair: Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (images, _) = io.images.receive().receive_cuda_stream(cx)?;
        let _: &Tensor<f32> = images;
        let (pair, _) = io.pair.receive().receive_cuda_stream(cx)?;
        io.out.emit(pair)
    }
}

fn main() {}
