// Types with a name that no instance can have: rustc knows them.
use streamflow::prelude::*;

#[kernel(instances(f32, String), unsafe cuda = "")]
fn of_a_string<T: Element>(out: &mut [T]) {
    let _ = out;
}

#[kernel(instances((f32, Vec<u8>), (u8, usize)), unsafe cuda = "")]
fn of_two_types<A: Element, B: Element>(out: &mut [A], from: &[B]) {
    let _ = (out, from);
}

trait Real: Element {}

impl Real for f32 {}

#[kernel(instances(f64), unsafe cuda = "")]
fn of_a_narrower_bound<T: Real>(out: &mut [T]) {
    let _ = out;
}

fn main() {}
