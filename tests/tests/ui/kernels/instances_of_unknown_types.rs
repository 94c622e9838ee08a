// Types without a definition.
use streamflow::prelude::*;

#[kernel(instances(T, f32), unsafe cuda = "")]
fn of_its_parameter<T: Element>(out: &mut [T]) {
    let _ = out;
}

#[kernel(instances(Missing), unsafe cuda = "")]
fn of_nothing<T: Element>(out: &mut [T]) {
    let _ = out;
}

fn main() {}
