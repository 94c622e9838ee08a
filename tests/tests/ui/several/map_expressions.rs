use streamflow::kernel;

#[kernel(map)]
fn closure(out: &mut f32, a: &f32) {
    *out = (|x| x + 1.0)(*a);
}

#[kernel(map)]
fn reference(out: &mut f32, a: &f32) {
    *out = &1.0;
}

#[kernel(map)]
fn string(out: &mut f32, a: &f32) {
    *out = "1.0";
}

#[kernel(map)]
fn character(out: &mut f32, a: &f32) {
    *out = 'a';
}

#[kernel(map)]
fn question(out: &mut f32, a: &f32) {
    *out = (*a)?;
}

#[kernel(map)]
fn leaves(out: &mut f32, a: &f32) {
    if *a < 0.0 {
        return;
    }
    *out = *a;
}

#[kernel(map)]
fn macro_in_a_value(out: &mut f32, a: &f32) {
    *out = f32::from(cfg!(unix));
}

#[kernel(map)]
fn macro_as_a_statement(out: &mut f32, a: &f32) {
    println!("x");
    *out = *a;
}

#[kernel(map)]
fn array(out: &mut f32, a: &f32) {
    *out = [1.0, 2.0];
}

#[kernel(map)]
fn repeat(out: &mut f32, a: &f32) {
    *out = [1.0; 2];
}

#[kernel(map)]
fn tuple(out: &mut f32, a: &f32) {
    *out = (1.0, 2.0);
}

#[kernel(map)]
fn structure(out: &mut f32, a: &f32) {
    *out = Point { x: 1.0 };
}

#[kernel(map)]
fn field(out: &mut f32, a: &f32) {
    *out = a.x;
}

#[kernel(map)]
fn index(out: &mut f32, a: &f32) {
    *out = a[0];
}

#[kernel(map)]
fn no_safety(out: &mut f32, a: &f32) {
    *out = unsafe { *a };
}

#[kernel(map)]
fn waits(out: &mut f32, a: &f32) {
    *out = async { 1.0 };
}

#[kernel(map)]
fn range(out: &mut f32, a: &f32) {
    *out = 0..1;
}

#[kernel(map)]
fn function_of_a_type(out: &mut f32, a: &f32) {
    *out = f32::max(*a, 1.0);
}

#[kernel(map)]
fn assigned(out: &mut f32, a: &f32) {
    let x = (*out = *a);
}

#[kernel(map)]
fn added(out: &mut f32, a: &f32) {
    let x = (*out += *a);
}

#[kernel(map)]
fn constant(out: &mut f32, a: &f32) {
    *out = const { 1.0 };
}

fn main() {}
