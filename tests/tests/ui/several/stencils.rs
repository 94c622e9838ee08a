use streamflow::kernel::Window;
use streamflow::kernel;

#[kernel(stencil(reach = [1, 1], border = clamp))]
fn far(out: &mut f32, a: Window<f32>) {
    *out = a.at(0, -2);
}

#[kernel(stencil(reach = [1, 1], border = clamp))]
fn far_by_loops(out: &mut f32, a: Window<f32>) {
    let mut sum = 0.0;
    for y in -1..=1 {
        for x in 0..2 {
            sum += a.at(y + x, x);
        }
    }
    *out = sum;
}

#[kernel(stencil(reach = [1], border = zero))]
fn variable(out: &mut f32, a: Window<f32>, by: i32) {
    *out = a.at(by);
}

const RADIUS: i32 = 2;

#[kernel(stencil(reach = [2], border = zero))]
fn other_ends(out: &mut f32, a: Window<f32>) {
    let mut sum = 0.0;
    for x in 0..RADIUS {
        sum += a.at(x);
    }
    *out = sum;
}

#[kernel(stencil(reach = [1], border = zero))]
fn changed(out: &mut f32, a: Window<f32>) {
    let mut sum = 0.0;
    for mut x in 0..1 {
        x += 5;
        sum += a.at(x);
    }
    *out = sum;
}

#[kernel(stencil(reach = [1], border = zero))]
fn hidden(out: &mut f32, a: Window<f32>) {
    let mut sum = 0.0;
    for x in 0..1 {
        let x = x * 10;
        sum += a.at(x);
    }
    *out = sum;
}

#[kernel(stencil(reach = [1, 1], border = wrap))]
fn dimensions(out: &mut f32, a: Window<f32>) {
    *out = a.at(1);
}

#[kernel(stencil(reach = [1, 1], border = wrap))]
fn dereferenced(out: &mut f32, a: Window<f32>) {
    *out = *a;
}

#[kernel(stencil(reach = [1, 1], border = wrap))]
fn indexed(out: &mut f32, a: Window<f32>) {
    *out = a[(0, 1)];
}

#[kernel(stencil(reach = [1, 1], border = wrap))]
fn copied(out: &mut f32, a: Window<f32>) {
    let b = a;
    *out = b;
}

#[kernel(stencil(reach = [1, 1], border = wrap))]
fn method(out: &mut f32, a: Window<f32>) {
    *out = a.get(0, 0);
}

#[kernel(stencil(reach = [1, 1], border = wrap))]
fn element(out: &mut f32, a: Window<f32>, b: &f32) {
    *out = a.at(0, 0) + b.at(0, 0);
}

#[kernel(stencil(reach = [1, 1], border = wrap))]
fn no_window(out: &mut f32, a: &f32) {
    *out = *a;
}

#[kernel(stencil(reach = [1, 1], border = wrap))]
fn reference(out: &mut f32, a: &Window<f32>) {
    *out = a.at(0, 0);
}

#[kernel(stencil(reach = [1, 1], border = wrap))]
fn coordinates(out: &mut f32, a: Window<f32>, #[at] [z, y, x]: [usize; 3]) {
    *out = a.at(0, 0) + (x + y + z) as f32;
}

#[kernel(map)]
fn map(out: &mut f32, a: Window<f32>) {
    *out = a.at(0, 0);
}

#[kernel(stencil)]
fn no_options(out: &mut f32, a: Window<f32>) {
    *out = a.at(0);
}

#[kernel(stencil(border = wrap))]
fn no_reach(out: &mut f32, a: Window<f32>) {
    *out = a.at(0);
}

#[kernel(stencil(reach = [1]))]
fn no_border(out: &mut f32, a: Window<f32>) {
    *out = a.at(0);
}

#[kernel(stencil(reach = [1], border = mirrored))]
fn other_border(out: &mut f32, a: Window<f32>) {
    *out = a.at(0);
}

#[kernel(stencil(reach = [1], edge = wrap))]
fn other_option(out: &mut f32, a: Window<f32>) {
    *out = a.at(0);
}

#[kernel(stencil(reach = [1], reach = [2], border = wrap))]
fn twice(out: &mut f32, a: Window<f32>) {
    *out = a.at(0);
}

#[kernel(stencil(reach = [-1], border = wrap))]
fn negative(out: &mut f32, a: Window<f32>) {
    *out = a.at(0);
}

#[kernel(stencil(reach = [1, 1, 1, 1, 1], border = wrap))]
fn five(out: &mut f32, a: Window<f32>) {
    *out = a.at(0, 0, 0, 0, 0);
}

#[kernel(stencil(reach = [1], border = wrap), threads(256))]
fn more(out: &mut f32, a: Window<f32>) {
    *out = a.at(0);
}

fn main() {}
