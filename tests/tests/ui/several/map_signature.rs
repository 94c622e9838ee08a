use streamflow::kernel;

#[kernel(map)]
const fn constant(out: &mut f32) {
    *out = 0.0;
}

#[kernel(map)]
async fn waits(out: &mut f32) {
    *out = 0.0;
}

#[kernel(map)]
extern "C" fn foreign(out: &mut f32) {
    *out = 0.0;
}

#[kernel(map)]
fn generic<T: Copy>(out: &mut T, a: &T) {
    *out = *a;
}

#[kernel(map)]
fn returns(a: &f32, out: &mut f32) -> f32 {
    *out = *a;
}

#[kernel(map)]
fn nothing(a: &f32) {}

#[kernel(map)]
fn slice(out: &mut [f32]) {}

#[kernel(map)]
fn number(out: &mut f32, #[at] i: u32) {
    *out = i as f32;
}

#[kernel(map)]
fn coordinates(out: &mut f32, #[at] [y, x]: [usize; 3]) {
    *out = (x + y) as f32;
}

#[kernel(map)]
fn pair(out: &mut f32, #[at] (y, x): (usize, usize)) {
    *out = (x + y) as f32;
}

#[kernel(map)]
fn attribute(out: &mut f32, #[cold] a: &f32) {
    *out = *a;
}

#[kernel(map)]
fn pattern(out: &mut f32, (a, b): (f32, f32)) {
    *out = a + b;
}

#[kernel(map)]
fn many(a: &mut f32, b: &f32, c: &f32, d: &f32, e: &f32, f: &f32) {
    *a = *b;
}

#[kernel(map, threads(256))]
fn options(out: &mut f32) {
    *out = 0.0;
}

#[kernel(map, unsafe cuda = "*out = 0;")]
fn two_bodies(out: &mut f32) {
    *out = 0.0;
}

#[kernel(map)]
unsafe fn vowed(out: &mut f32) {
    *out = 0.0;
}

#[kernel(map)]
fn half(out: &mut f32) {
    *out = 0.0;
}

#[kernel(map)]
fn keyword(out: &mut f32, float: &f32) {
    *out = *float;
}

#[kernel(map)]
fn reserved(out: &mut f32, a__b: &f32) {
    *out = *a__b;
}

#[kernel(map)]
fn same(out: &mut f32, x: f32, #[at] [y, x]: [usize; 2]) {
    *out = x as f32;
}

#[kernel(map)]
fn length(out: &mut f32, out_len: u32) {
    *out = out_len as f32;
}

#[kernel(map)]
fn own(out: &mut f32, own: f32) {
    *out = own;
}

#[kernel(map)]
fn ours(out: &mut f32, C0: f32) {
    *out = C0;
}

#[kernel(map)]
struct Nothing;

fn main() {}
