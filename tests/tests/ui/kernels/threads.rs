use streamflow::kernel;

#[kernel(threads(256, 1, 2), unsafe cuda = "out[0] = 1;")]
fn right(out: &mut [f32]) {
    out[0] = 1.0;
}

#[kernel(threads = 256, unsafe cuda = "")]
fn no_parentheses(_out: &mut [f32]) {}

#[kernel(threads(), unsafe cuda = "")]
fn none(_out: &mut [f32]) {}

#[kernel(threads(8, 8, 8, 1), unsafe cuda = "")]
fn four(_out: &mut [f32]) {}

#[kernel(threads(SIZE), unsafe cuda = "")]
fn no_number(_out: &mut [f32]) {}

#[kernel(threads(0), unsafe cuda = "")]
fn zero(_out: &mut [f32]) {}

#[kernel(threads(1, 1, 65), unsafe cuda = "")]
fn deep(_out: &mut [f32]) {}

#[kernel(threads(64, 32), unsafe cuda = "")]
fn many(_out: &mut [f32]) {}

#[kernel(threads(32), threads(64), unsafe cuda = "")]
fn twice(_out: &mut [f32]) {}

#[kernel(unsafe threads(32), unsafe cuda = "")]
fn not_unsafe(_out: &mut [f32]) {}

#[kernel(thread(32), unsafe cuda = "")]
fn misspelt(_out: &mut [f32]) {}

fn main() {}
