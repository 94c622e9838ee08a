use streamflow::prelude::*;

#[operator]
pub struct Blur {
    #[input]
    written: &mut Tensor<f32>,
    #[input]
    named: &'a Tensor<f32>,
    #[input]
    fixed: &'static Tensor<f32>,
    #[input]
    maybe: Option<&Tensor<f32>>,
    #[output]
    lent: &Tensor<f32>,
    #[output]
    perhaps: Option<Tensor<f32>>,
}

// The port has the intended type.
impl Compute for Blur {
    fn compute(&mut self, io: BlurIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (written, _): (Tensor<f32>, _) = io.written.receive().receive_cuda_stream(cx)?;
        let (_, _): (&Tensor<f32>, _) = io.named.receive().receive_cuda_stream(cx)?;
        let (_, _): (&Tensor<f32>, _) = io.fixed.receive().receive_cuda_stream(cx)?;
        let (maybe, stream) = io.maybe.receive().receive_cuda_stream(cx)?;
        let _: Option<&Tensor<f32>> = maybe;
        io.lent.emit(written)?;
        io.perhaps.emit(cx.tensor([1], &stream)?)
    }
}

fn main() {}
