// Operators of a kernel of `map`, and the kernel's arguments.
use streamflow::prelude::*;

#[kernel(map)]
fn scale(out: &mut f32, a: &f32, factor: f32) {
    *out = *a * factor;
}

#[operator(map = scale)]
struct TooFew {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

#[operator(map = scale)]
struct OtherValue {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    factor: u32,
}

#[operator(map = scale)]
struct OtherInput {
    #[input]
    image: &Tensor<u8>,
    #[output]
    out: Tensor<f32>,
    factor: f32,
}

#[operator(map = scale)]
struct OtherOutput {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<u16>,
    factor: f32,
}

#[operator(map = scale)]
struct ComputeBeside {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    factor: f32,
}

impl Compute for ComputeBeside {
    fn compute(&mut self, io: ComputeBesideIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor(image.shape(), &stream)?;
        stream.map::<scale>((&mut out, image, self.factor))?;
        io.out.emit(out)
    }
}

struct NoKernel;

#[operator(map = NoKernel)]
struct OfNoKernel {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

#[derive(Message)]
struct Pair {
    left: Tensor<f32>,
    right: Tensor<f32>,
}

#[operator(map = scale)]
struct OtherMessage {
    #[input]
    pair: &Pair,
    #[output]
    out: Tensor<f32>,
    factor: f32,
}

fn main() {}
