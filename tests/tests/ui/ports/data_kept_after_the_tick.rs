use streamflow::prelude::*;

#[operator]
pub struct Last {
    #[input]
    image: &Tensor<f32>,
    last: Option<&'static Tensor<f32>>,
}

impl Compute for Last {
    fn compute(&mut self, io: LastIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        self.last = Some(image);
        Ok(())
    }
}

fn main() {}
