// An operator with a wrong option, a wrong port, a misspelt mark, and a `compute` that receives too late.
use streamflow::prelude::*;

#[operator(stream(fill))]
pub struct Blur {
    #[input]
    image: &mut Tensor<f32>,
    #[ouput]
    blurred: Tensor<f32>,
}

impl Compute for Blur {
    fn compute(&mut self, io: BlurIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive_cuda_stream(cx)?;
        io.blurred.emit(image)
    }
}

fn main() {}
