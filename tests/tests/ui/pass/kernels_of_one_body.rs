// Kernels with one body: each form, structs, and names beyond ASCII.
use streamflow::kernel::Window;
use streamflow::prelude::*;

#[derive(Clone, Copy, KernelArg)]
struct Lens {
    focus: f32,
    size: u8,
    #[cfg(any())]
    höhe: String,
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

#[kernel(stencil(reach = [1], border = clamp))]
fn sides(out: &mut f32, a: Window<f32>) {
    *out = a.at(-1) + a.at(1);
}

#[kernel(reduce(identity = 0.0, map = halved))]
fn sum(a: f32, b: f32) -> f32 {
    a + b
}

fn main() -> Result<()> {
    let platform = Platform::host().build()?;
    let stream = platform.default_stream(device(0))?;
    let a = platform.upload(&[2.0_f32, 4.0])?;
    let mut out = platform.tensor([2], &stream)?;
    stream.map::<bend>((&mut out, &a, Lens { focus: 3.0, size: 5 }, [0.0, 0.5, 1.0]))?;
    assert_eq!(stream.download_blocking::<f32>(&out)?, [8.5, 11.5]);
    stream.map::<sides>((&mut out, &a))?;
    assert_eq!(stream.download_blocking::<f32>(&out)?, [6.0, 6.0]);
    stream.evaluate(&mut out, expr!(a * 2.0))?;
    assert_eq!(stream.download_blocking::<f32>(&out)?, [4.0, 8.0]);
    let mut one = platform.tensor([1], &stream)?;
    stream.reduce::<sum>(&mut one, &a)?;
    assert_eq!(stream.download_blocking::<f32>(&one)?, [3.0]);
    Ok(())
}
