use streamflow::prelude::*;

#[kernel]
fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

fn main() {}
