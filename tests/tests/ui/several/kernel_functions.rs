// Functions of kernels, and calls of others.
use streamflow::prelude::*;

#[kernel_fn]
fn reference(a: &f32) -> f32 {
    *a
}

#[kernel_fn]
fn nothing(a: f32) {}

#[kernel_fn]
fn generic<T: Copy>(a: T) -> T {
    a
}

#[kernel_fn]
fn itself(a: u32) -> u32 {
    if a == 0 { 0 } else { itself(a - 1) }
}

#[kernel_fn]
fn pattern((a, b): (f32, f32)) -> f32 {
    a + b
}

#[kernel_fn(inline)]
fn options(a: f32) -> f32 {
    a
}

#[kernel_fn]
fn leaves(a: f32) -> f32 {
    return a;
}

#[kernel_fn]
struct Square;

#[kernel_fn]
fn twice(a: f32) -> f32 {
    2.0 * a
}

#[kernel(map)]
fn calls_with_another_type(out: &mut f32, a: &u32) {
    *out = twice(*a);
}

#[kernel(map)]
fn calls_with_too_many(out: &mut f32) {
    *out = twice(*out, 1.0);
}

fn main() {}
