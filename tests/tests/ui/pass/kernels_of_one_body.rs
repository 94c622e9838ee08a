// Kernels with one body: each form, structs, names beyond ASCII, constants of generic types, and an operator whose constant is
// the kernel's.
use streamflow::kernel::{Float, Window};
use streamflow::prelude::*;

#[derive(Clone, Copy, KernelArg)]
struct Lens {
    focus: f32,
    size: u8,
    #[cfg(any())]
    höhe: String,
}

struct Filter<T, const N: usize>(T);

impl<T: Float, const N: usize> Filter<T, N> {
    const TAPS: [usize; 2] = [3, N];

    fn add(stream: &CudaStream, out: &mut Tensor<f32>, a: &Tensor<f32>) -> Result<()> {
        stream.evaluate(&mut *out, expr!(a + (Self::TAPS[0] + Filter::<T, N>::TAPS[1]) as f32))?;
        Ok(())
    }
}

#[kernel_fn]
fn halved(x: f32) -> f32 {
    x / 2.0
}

#[kernel(map)]
fn bend(out: &mut f32, a: &f32, lens: Lens, taps: [f32; 3]) {
    let größe = halved(*a);
    *out = größe * lens.focus + lens.size as f32 + taps[1];
}

#[kernel(map)]
fn tapped<T: Float, const N: usize>(out: &mut T, a: &T) {
    *out = *a + (Filter::<T, N>::TAPS[1] + Filter::<f32, N>::TAPS[0]) as T;
}

#[kernel(stencil(reach = [1], border = clamp))]
fn sides(out: &mut f32, a: Window<f32>) {
    *out = a.at(-1) + a.at(1);
}

#[kernel(reduce(identity = 0.0, map = halved))]
fn sum(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(map)]
fn raised<const N: usize>(out: &mut f32, a: &f32) {
    *out = *a + N as f32;
}

#[operator(map = raised::<N>)]
pub struct Raised<const N: usize> {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

fn main() -> Result<()> {
    let platform = Platform::host().build()?;
    let stream = platform.default_stream(device(0))?;
    let a = platform.upload(&[2.0_f32, 4.0])?;
    let mut out = platform.tensor([2], &stream)?;
    stream.map::<bend>((&mut out, &a, Lens { focus: 3.0, size: 5 }, [0.0, 0.5, 1.0]))?;
    assert_eq!(stream.download_blocking::<f32>(&out)?, [8.5, 11.5]);
    stream.map::<tapped<f32, 7>>((&mut out, &a))?;
    assert_eq!(stream.download_blocking::<f32>(&out)?, [12.0, 14.0]);
    stream.map::<sides>((&mut out, &a))?;
    assert_eq!(stream.download_blocking::<f32>(&out)?, [6.0, 6.0]);
    stream.evaluate(&mut out, expr!(a * 2.0))?;
    assert_eq!(stream.download_blocking::<f32>(&out)?, [4.0, 8.0]);
    Filter::<f32, 5>::add(&stream, &mut out, &a)?;
    assert_eq!(stream.download_blocking::<f32>(&out)?, [10.0, 12.0]);
    let mut one = platform.tensor([1], &stream)?;
    stream.reduce::<sum>(&mut one, &a)?;
    assert_eq!(stream.download_blocking::<f32>(&one)?, [3.0]);
    let _: Raised<7> = Raised::new();
    Ok(())
}
