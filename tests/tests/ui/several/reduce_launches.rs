use streamflow::kernel::reductions::ArgMax;
use streamflow::prelude::*;

#[kernel(reduce(identity = 0.0))]
fn sum(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(map)]
fn scale(out: &mut f32, a: &f32) {
    *out = *a;
}

#[kernel(scan(identity = 0.0))]
fn first(a: f32, b: f32) -> f32 {
    if a != 0.0 { a } else { b }
}

fn launches(
    stream: &CudaStream,
    out: &mut Tensor<f32>,
    input: &Tensor<f32>,
    bytes: &Tensor<u8>,
) -> Result<()> {
    stream.reduce::<scale>(out, input)?;
    stream.reduce::<sum>(out, bytes)?;
    stream.reduce::<sum>(&*out, input)?;
    stream.reduce::<ArgMax<f32>>(out, input)?;
    stream.reduce::<first>(out, input)?;
    stream.scan::<scale>(out, input)?;
    stream.scan::<first>(out, bytes)?;
    Ok(())
}

fn main() {}
