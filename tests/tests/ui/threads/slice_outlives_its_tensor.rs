// Half of a tensor that is sent meanwhile.
use streamflow::prelude::*;

#[operator]
pub struct Halves {
    #[input]
    image: Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Halves {
    fn compute(&mut self, io: HalvesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        let half = image.slice(0..4);
        io.out.emit(image)?;
        println!("{:?}", half.map(|half| half.len()));
        Ok(())
    }
}

fn main() {}
