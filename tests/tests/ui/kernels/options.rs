// Options that end too early, or that are not options.
use streamflow::prelude::*;

#[kernel(unsafe)]
fn nothing(out: &mut [f32]) {
    out.fill(0.0);
}

#[kernel("out[0] = 0;")]
fn text(out: &mut [f32]) {
    out.fill(0.0);
}

#[kernel(unsafe cuda = "out[0] = 0;", requires(out.len() ==))]
fn unfinished(out: &mut [f32]) {
    out.fill(0.0);
}

#[kernel(unsafe cuda = "out[0] = 0;" threads(32))]
fn without_a_comma(out: &mut [f32]) {
    out.fill(0.0);
}

fn main() {}
