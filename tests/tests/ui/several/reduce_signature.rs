use streamflow::kernel;
use streamflow::kernel_fn;

#[kernel(reduce)]
fn without_identity(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(map = square))]
fn without_identity_of_map(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 0.0))]
fn one(a: f32) -> f32 {
    a
}

#[kernel(reduce(identity = 0.0))]
fn three(a: f32, b: f32, c: f32) -> f32 {
    a + b + c
}

#[kernel(reduce(identity = 0.0))]
fn two_types(a: f32, b: f64) -> f32 {
    a + b as f32
}

#[kernel(reduce(identity = 0.0))]
fn other_result(a: f32, b: f32) -> f64 {
    (a + b) as f64
}

#[kernel(reduce(identity = 0.0))]
fn no_result(a: f32, b: f32) {}

#[kernel(reduce(identity = 0.0))]
fn references(a: &f32, b: f32) -> f32 {
    *a + b
}

#[kernel(reduce(identity = 0.0))]
fn generic<T>(a: T, b: T) -> T {
    a
}

#[kernel(reduce(identiti = 0.0))]
fn unknown_option(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 0.0, identity = 1.0))]
fn twice(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 0.0, map = |x| x * x))]
fn closure(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 0.0), threads(256))]
fn more(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 0))]
fn other_identity(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = true))]
fn of_bools(a: bool, b: bool) -> bool {
    a & b
}

#[kernel(scan)]
fn scan_without_identity(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(scan(identity = 0.0, exclusive = true))]
fn unknown_option_of_a_scan(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(scan(identity = 0.0))]
fn scan_of_one(a: f32) -> f32 {
    a
}

#[kernel(scan(identity = 0.0), partial)]
fn more_than_a_scan(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel_fn]
fn square(x: f32) -> f32 {
    x * x
}

#[kernel(reduce(identity = 0.0, map = square))]
fn map_of_another_type(a: f64, b: f64) -> f64 {
    a + b
}

#[kernel(reduce(identity: 0.0))]
fn colon(a: f32, b: f32) -> f32 {
    a + b
}

fn main() {}
