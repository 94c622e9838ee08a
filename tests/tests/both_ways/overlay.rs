//! Overlay: an image of labels over a photograph, each label in the colour that a table has.

use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, check_equal};

use super::{check_control, noisy_bytes};

// With one body:

/// The photograph, `alpha` of the way to the label's colour.
#[kernel(map)]
fn overlay(
    out: &mut u8,
    photo: &u8,
    label: &u8,
    #[at] [_y, _x, channel]: [usize; 3],
    colours: &[u8],
    alpha: f32,
) {
    let colour = colours[*label as usize * 3 + channel] as f32;
    *out = (*photo as f32 + (colour - *photo as f32) * alpha + 0.5) as u8;
}

fn once(
    s: &CudaStream,
    out: &mut Tensor<u8>,
    photo: &Tensor<u8>,
    labels: &Tensor<u8>,
    colours: &Tensor<u8>,
) -> Result<()> {
    Ok(s.map::<overlay>((out, photo, labels, colours, ALPHA))?)
}

// With two bodies:

/// The photograph, `alpha` of the way to the label's colour.
#[kernel(requires(out.len() == photo.len(), out.len() == 3 * labels.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) {
        unsigned entry = labels[i / 3] * 3 + i % 3;
        float colour = entry < colours_len ? colours[entry] : 0;
        out[i] = photo[i] + __fmul_rn(colour - photo[i], alpha) + 0.5f;
    }
")]
fn overlay_twice(out: &mut [u8], photo: &[u8], labels: &[u8], colours: &[u8], alpha: f32) {
    for (i, (out, photo)) in out.iter_mut().zip(photo).enumerate() {
        let entry = usize::from(labels[i / 3]) * 3 + i % 3;
        let colour = f32::from(colours.get(entry).copied().unwrap_or(0));
        let photo = f32::from(*photo);
        *out = (photo + (colour - photo) * alpha + 0.5) as u8;
    }
}

fn twice(
    s: &CudaStream,
    out: &mut Tensor<u8>,
    photo: &Tensor<u8>,
    labels: &Tensor<u8>,
    colours: &Tensor<u8>,
) -> Result<()> {
    Ok(s.launch::<overlay_twice>(out.len(), (out, photo, labels, colours, ALPHA))?)
}

// The test of both:

const ALPHA: f32 = 0.4;
const CLASSES: usize = 9;
const SHAPE: [usize; 3] = [14, 27, 3];
const PIXELS: usize = SHAPE[0] * SHAPE[1];

pub(super) fn test(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let bytes = noisy_bytes(7, 3 * PIXELS);
    let classes: Vec<u8> = noisy_bytes(8, PIXELS).iter().map(|x| x % CLASSES as u8).collect();
    let table = noisy_bytes(9, 3 * CLASSES);
    let photo = uploaded(platform, &bytes, &s)?.reshape(SHAPE)?;
    let labels = uploaded(platform, &classes, &s)?.reshape([SHAPE[0], SHAPE[1], 1])?;
    let colours = uploaded(platform, &table, &s)?;
    let poisoned = |byte: u8| uploaded(platform, &[byte; 3 * PIXELS], &s)?.reshape(SHAPE);
    let (mut out, mut other) = (poisoned(0x55)?, poisoned(0xaa)?);
    once(&s, &mut out, &photo, &labels, &colours)?;
    twice(&s, &mut other, &photo, &labels, &colours)?;
    let (found, wanted) = (s.download_blocking(&out)?, s.download_blocking(&other)?);
    check_equal(found.clone(), wanted.clone())?;
    let plain = |(i, photo): (usize, &u8)| {
        let colour = table[usize::from(classes[i / 3]) * 3 + i % 3];
        let ten = 6 * u32::from(*photo) + 4 * u32::from(colour);
        ((ten + 5) / 10) as u8
    };
    check_equal(found, bytes.iter().enumerate().map(plain).collect())?;
    let inverse: Vec<u8> = table.iter().map(|x| !x).collect();
    once(&s, &mut out, &photo, &labels, &uploaded(platform, &inverse, &s)?)?;
    check_control(&s.download_blocking(&out)?, &wanted)
}
