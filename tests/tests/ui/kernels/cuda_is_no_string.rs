use streamflow::kernel;

#[kernel(unsafe cuda = 3)]
fn fill(out: &mut [f32], value: f32) {
    out[0] = value;
}

#[kernel(unsafe cuda)]
fn clear(out: &mut [f32]) {
    out[0] = 0.0;
}

fn main() {}
