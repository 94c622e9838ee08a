// An operator of a kernel that does not exist.
use streamflow::prelude::*;

#[kernel(map)]
fn scale(out: &mut f32, a: &f32) {
    *out = *a;
}

#[operator(map = scalee)]
struct Scale {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

fn main() {}
