use streamflow::kernel;

#[kernel(map)]
fn unknown_method(out: &mut f32, a: &f32) {
    *out = a.tan2();
}

#[kernel(map)]
fn misspelt_method(out: &mut f32, a: &f32) {
    *out = (*a).tan2();
}

#[kernel(map)]
fn other_method(out: &mut f32, a: &f32) {
    *out = (*a).collect();
}

#[kernel(map)]
fn turbofish(out: &mut f32, a: &f32) {
    *out = (*a).max::<f32>(1.0);
}

#[kernel(map)]
fn too_few(out: &mut f32, a: &f32) {
    *out = (*a).max();
}

#[kernel(map)]
fn too_many(out: &mut f32, a: &f32) {
    *out = (*a).sqrt(1.0);
}

#[kernel(map)]
fn cast_to_any(out: &mut f32, a: &f32) {
    *out = 1 as _;
}

#[kernel(map)]
fn cast_to_wide(out: &mut f32, a: &f32) {
    *out = (1 as u128) as f32;
}

#[kernel(map)]
fn no_star(out: &mut f32, a: &f32) {
    *out = a * 2.0;
}

#[kernel(map)]
fn no_star_to_assign(out: &mut f32, a: &f32) {
    out = 2.0;
}

#[kernel(map)]
fn star_of_a_value(out: &mut f32, a: &f32) {
    let x = 1.0;
    *out = *x;
}

#[kernel(map)]
fn sign_of_unsigned(out: &mut u32, a: &u32) {
    *out = -*a;
}

#[kernel(map)]
fn absolute_of_unsigned(out: &mut u32, a: &u32) {
    *out = (*a).abs();
}

#[kernel(map)]
fn root_of_an_integer(out: &mut u32, a: &u32) {
    *out = (*a).sqrt();
}

#[kernel(map)]
fn other_types(out: &mut f32, a: &u32) {
    *out = *a * 2.0;
}

#[kernel(map)]
fn other_sides(out: &mut f32, a: &u32, b: &f32) {
    *out = *a + *b;
}

fn main() {}
