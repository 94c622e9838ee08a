use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
    #[output]
    sums: Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        let rows = image.rows();
        let (_, stream) = image.receive_cuda_stream(cx)?;
        io.sums.emit(cx.tensor([rows], &stream)?)
    }
}

fn main() {}
