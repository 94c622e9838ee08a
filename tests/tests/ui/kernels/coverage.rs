// The words for grids that are smaller than the slices.
use streamflow::kernel;

#[kernel(grid_stride, unsafe cuda = "for (auto i = thread_index(); i < out_len; i += thread_count()) out[i] = 0;")]
fn right(out: &mut [f32]) {
    out.fill(0.0);
}

#[kernel(partial, threads(32), unsafe cuda = "out[0] = 0;")]
fn right_too(out: &mut [f32]) {
    out[0] = 0.0;
}

#[kernel(grid_stride, partial, unsafe cuda = "")]
fn both(_out: &mut [f32]) {}

#[kernel(partial, partial, unsafe cuda = "")]
fn twice(_out: &mut [f32]) {}

#[kernel(grid_stride, unsafe cuda = "")]
fn nothing_to_write(_a: &[f32], _n: u32) {}

#[kernel(partial(out), unsafe cuda = "")]
fn with_an_argument(_out: &mut [f32]) {}

#[kernel(grid_stride = true, unsafe cuda = "")]
fn with_a_value(_out: &mut [f32]) {}

#[kernel(unsafe partial, unsafe cuda = "")]
fn not_unsafe(_out: &mut [f32]) {}

#[kernel(partial threads(32), unsafe cuda = "")]
fn without_a_comma(_out: &mut [f32]) {}

#[kernel(grid_strid, unsafe cuda = "")]
fn misspelt(_out: &mut [f32]) {}

#[kernel(partially, unsafe cuda = "")]
fn misspelt_too(_out: &mut [f32]) {}

#[kernel(loops, unsafe cuda = "")]
fn unknown(_out: &mut [f32]) {}

fn main() {}
