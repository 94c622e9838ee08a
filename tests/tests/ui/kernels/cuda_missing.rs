use streamflow::kernel;

#[kernel]
fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

// The kernel still exists: no further error here.
type Fill = fill;

fn main() {
    let _ = std::any::type_name::<Fill>();
}
