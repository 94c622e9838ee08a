use streamflow::prelude::*;

#[operator]
pub struct Source {
    #[output]
    image: Tensor<f32>,
    mine: CudaStream,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, _: &ExecutionContext) -> Result<()> {
        let image = self.mine_image()?;
        io.image.set_cuda_stream(&self.mine).emit(image)
    }
}

impl Source {
    fn mine_image(&self) -> Result<Tensor<f32>, Error> {
        Platform::detect()?.tensor([8], &self.mine)
    }
}

fn main() {}
