use streamflow::kernel;

#[kernel(unsafe(cuda = "out[0] = value;"))]
fn fill(out: &mut [f32], value: f32) {
    out[0] = value;
}

fn main() {}
