use streamflow::prelude::*;

#[kernel(instances(f32), unsafe cuda = "out[0] = 1;")]
fn without_parameters(out: &mut [f32]) {
    out[0] = 1.0;
}

#[kernel(instances, unsafe cuda = "")]
fn without_types<T: Element>(out: &mut [T]) {
    let _ = out;
}

#[kernel(instances(), unsafe cuda = "")]
fn of_no_types<T: Element>(out: &mut [T]) {
    let _ = out;
}

#[kernel(instances(f32), instances(f64), unsafe cuda = "")]
fn twice<T: Element>(out: &mut [T]) {
    let _ = out;
}

#[kernel(instances((f32, u8), (f32, f32, f32), u8), unsafe cuda = "")]
fn another_number<A: Element, B: Element>(out: &mut [A], from: &[B]) {
    let _ = (out, from);
}

#[kernel(unsafe instances(f32), unsafe cuda = "")]
fn not_unsafe<T: Element>(out: &mut [T]) {
    let _ = out;
}

#[kernel(instances("f32"), unsafe cuda = "")]
fn no_type<T: Element>(out: &mut [T]) {
    let _ = out;
}

#[kernel(instances(f32 f64), unsafe cuda = "")]
fn without_a_comma<T: Element>(out: &mut [T]) {
    let _ = out;
}

#[kernel(instances(f32, (), _, [f32; 4]), unsafe cuda = "")]
fn no_element<T: Element>(out: &mut [T]) {
    let _ = out;
}

#[kernel(instances((f32, u8), (u8, f32), (f32, u8)), unsafe cuda = "")]
fn named_twice<A: Element, B: Element>(out: &mut [A], from: &[B]) {
    let _ = (out, from);
}

fn main() {}
