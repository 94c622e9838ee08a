use streamflow::kernel;

#[kernel(unsafe cuda = "")]
fn references(a: &f32, b: &mut f32, c: &[f32; 4], d: &mut [u8; 4], e: &str) {
    let _ = (a, b, c, d, e);
}

#[kernel(unsafe cuda = "")]
fn others(a: *const f32, b: [f32; 4], c: (f32, f32), d: fn(f32) -> f32, e: impl Copy) {
    let _ = (a, b, c, d, e);
}

fn main() {}
