use streamflow::prelude::*;

#[operator]
pub struct Forward {
    #[input]
    image: Tensor<f32>,
    #[output]
    sent: Tensor<f32>,
}

impl Compute for Forward {
    fn compute(&mut self, io: ForwardIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        io.sent.emit(image)?;
        println!("{:?}", image.shape());
        Ok(())
    }
}

fn main() {}
