// Requirements and CUDA bodies that would leave more than themselves.
use streamflow::prelude::*;

#[kernel(requires({ if value > 1.0 { return; } value > 0.0 }), unsafe cuda = "")]
fn returns_nothing(out: &mut [f32], value: f32) {
    out.fill(value);
}

#[kernel(requires({ if value > 1.0 { return true; } value > 0.0 }), unsafe cuda = "")]
fn returns_without_ok(out: &mut [f32], value: f32) {
    out.fill(value);
}

#[kernel(requires({ if value > 1.0 { break } value > 0.0 }), unsafe cuda = "")]
fn breaks(out: &mut [f32], value: f32) {
    out.fill(value);
}

#[kernel(requires(#[cfg(any())] value > 0.0), unsafe cuda = #[cfg(any())] "")]
fn has_attributes(out: &mut [f32], value: f32) {
    out.fill(value);
}

#[kernel(unsafe cuda = if BODY.is_empty() { return BODY } else { BODY })]
fn returns_its_body(out: &mut [f32]) {
    out.fill(0.0);
}

const BODY: &str = "";

fn main() {}
