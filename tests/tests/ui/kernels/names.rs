use streamflow::kernel;

#[kernel(unsafe cuda = "")]
fn reserved(float: &[f32], threadIdx: u32, thread_index: u32, streamflow_x: u32, größe: u32) {
    let _ = (float, threadIdx, thread_index, streamflow_x, größe);
}

#[kernel(unsafe cuda = "")]
fn lengths(out: &mut [f32], out_len: u64) {
    let _ = (out, out_len);
}

#[kernel(unsafe cuda = "")]
fn patterns((a, b): (f32, f32), _: f32) {
    let _ = (a, b);
}

fn main() {}
