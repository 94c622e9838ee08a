//! The kernels of the filter. Each works element by element.

use streamflow::prelude::*;

/// Writes the frame with this number: noise that differs from number to number, with exact values in `0.0..1.0`.
#[kernel(map)]
pub fn pattern(out: &mut f32, #[at] i: usize, number: u32) {
    let h = i as u32 * 2_654_435_769 + number * 40_503;
    let h = (h ^ (h >> 15)) * 739_982_445;
    let h = h ^ (h >> 12);
    *out = (h >> 8) as f32 / 16_777_216.0;
}

/// Writes the frame that [`pattern`] writes, on the host.
pub fn pattern_on_host(out: &mut [f32], number: u32) {
    out.iter_mut().enumerate().for_each(|(i, out)| pattern(out, i, number));
}

/// `out = part * frame`
///
/// The kernel has two bodies, since the program `race` calls `launch_unordered`.
#[kernel(requires(out.len() == frame.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = part * frame[i];
")]
pub fn share(out: &mut [f32], frame: &[f32], part: f32) {
    out.iter_mut().zip(frame).for_each(|(out, frame)| *out = part * frame);
}

/// `out += part * frame`
#[kernel(map)]
pub fn accumulate(out: &mut f32, frame: &f32, part: f32) {
    *out += part * *frame;
}

/// `image *= part`, in place.
#[kernel(map)]
pub fn fade(image: &mut f32, part: f32) {
    *image *= part;
}
