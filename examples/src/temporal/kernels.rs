//! The kernels of the filter, which work element by element.

use streamflow::prelude::*;

/// Writes the frame with this number: noise that differs from number to number, with exact values in `0.0..1.0`.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    unsigned int h = (unsigned int)i * 2654435769u + number * 40503u;
    h = (h ^ (h >> 15)) * 739982445u;
    h ^= h >> 12;
    out[i] = (float)(h >> 8) * 0x1p-24f;
")]
pub fn pattern(out: &mut [f32], number: u32) {
    for (i, out) in out.iter_mut().enumerate() {
        let h = (i as u32).wrapping_mul(2_654_435_769).wrapping_add(number.wrapping_mul(40_503));
        let h = (h ^ (h >> 15)).wrapping_mul(739_982_445);
        let h = h ^ (h >> 12);
        *out = (h >> 8) as f32 * 2.0_f32.powi(-24);
    }
}

/// `out = part * frame`
#[kernel(requires(out.len() == frame.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = part * frame[i];
")]
pub fn share(out: &mut [f32], frame: &[f32], part: f32) {
    out.iter_mut().zip(frame).for_each(|(out, frame)| *out = part * frame);
}

/// `out += part * frame`
#[kernel(requires(out.len() == frame.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] += part * frame[i];
")]
pub fn accumulate(out: &mut [f32], frame: &[f32], part: f32) {
    out.iter_mut().zip(frame).for_each(|(out, frame)| *out += part * frame);
}

/// `image *= part`, in place.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < image_len) image[i] *= part;
")]
pub fn fade(image: &mut [f32], part: f32) {
    image.iter_mut().for_each(|x| *x *= part);
}
