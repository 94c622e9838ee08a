// `?` is missing, at each place where it is needed.
use streamflow::prelude::*;

/// out[i] = value
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

#[operator(streams(fill))]
pub struct Through {
    #[input]
    image: Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Through {
    fn compute(&mut self, io: ThroughIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive().receive_cuda_stream(cx);
        stream.launch::<fill>(image.len(), (&mut image, 1.0))?;
        io.out.emit(image)
    }
}

#[operator(streams(fill))]
pub struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill);
        let mut image = cx.tensor([8], &stream)?;
        stream.launch::<fill>(image.len(), (&mut image, 1.0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

fn main() {}
