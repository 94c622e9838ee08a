// An operator with `map` sends on each output, and chooses nothing.
use streamflow::prelude::*;

/// great = 2 * image, tiny = image / 2
#[kernel(map)]
fn scale(great: &mut f32, tiny: &mut f32, image: &f32) {
    *great = 2.0 * *image;
    *tiny = 0.5 * *image;
}

#[operator(map = scale)]
struct Scale {
    #[input]
    image: &Tensor<f32>,
    #[output(branch)]
    great: Tensor<f32>,
    #[output(branch)]
    tiny: Tensor<f32>,
}

fn main() {}
