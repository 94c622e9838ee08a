//! `Histogram` and `Equalize`, beside OpenCV.

use streamflow::prelude::*;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};
use streamflow_vision::format::{Grey, Packed, Rgb};
use streamflow_vision::{Equalize, Histogram, Image};

use super::data::{Elements, References, image, tensor, ticked};

const SIZE: [usize; 2] = [37, 23];
const AREA: usize = SIZE[0] * SIZE[1];

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("counts_are_those_of_opencv", counts)
        .both("values_beyond_the_bins_are_not_counted", edges)
        .both("many_bins_are_counted_without_shared_memory", many_bins)
        .both("counts_have_any_size", sizes)
        .both("equalized_values_are_those_of_opencv", equalized)
        .both("adapted_values_are_those_of_opencv", adapted)
        .both("numbers_that_have_no_meaning_are_errors", refused)
}

fn references() -> Result<References> {
    References::new(include_str!("../../references/vision_detection.json"))
}

fn noise(seed: u64, count: usize) -> Vec<u8> {
    Random::new(seed).bytes(count)
}

fn compare<F: Packed>(
    platform: &Platform,
    name: &str,
    samples: &[F::Sample],
    make: impl Fn() -> Result<Histogram<F>>,
) -> Result<(), Failed>
where
    F::Sample: From<u8>,
{
    for padding in [0, 5] {
        let image = image::<F>(platform, samples, SIZE, padding)?;
        let (found, sent) = ticked!(platform, make()?, image: image => counts);
        check_equal(sent.shape()[0], F::CHANNELS)?;
        references()?.check(name, &found, 0.0)?;
        check_equal(found.len(), references()?.case(name)?.len())?;
    }
    Ok(())
}

fn counts(platform: &Platform) -> Result<(), Failed> {
    let rgb = noise(1, 3 * AREA);
    compare::<Rgb<u8>>(platform, "histogram_rgb_256", &rgb, || Histogram::new(256))?;
    let ranged = || Histogram::with_range(10, 20.0, 200.0);
    compare::<Rgb<u8>>(platform, "histogram_rgb_10", &rgb, ranged)?;
    let pairs = noise(2, AREA).into_iter().zip(noise(3, AREA));
    let deep: Vec<u16> = pairs.map(|(high, low)| u16::from_be_bytes([high, low])).collect();
    compare::<Grey<u16>>(platform, "histogram_u16_100", &deep, || Histogram::new(100))?;
    let floats = Random::new(4).floats(AREA);
    let ranged = || Histogram::with_range(7, -0.5, 0.75);
    compare::<Grey<f32>>(platform, "histogram_f32_7", &floats, ranged)
}

fn edges(platform: &Platform) -> Result<(), Failed> {
    let below = f32::from_bits(1.0_f32.to_bits() - 1);
    let samples = [0.0, -0.0, -1e-9, 1.0, below, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.5];
    let image = image::<Grey<f32>>(platform, &samples, [3, 3], 2)?;
    let (found, _) = ticked!(platform, Histogram::<Grey<f32>>::new(2)?, image: image => counts);
    check_equal(found, vec![2, 2])
}

fn many_bins(platform: &Platform) -> Result<(), Failed> {
    let samples: Vec<u16> =
        noise(3, AREA).into_iter().map(|sample| u16::from(sample % 8) * 9362).collect();
    let mut wanted = vec![0_u32; 65_536];
    samples.iter().for_each(|sample| wanted[usize::from(*sample)] += 1);
    let image = image::<Grey<u16>>(platform, &samples, SIZE, 1)?;
    let histogram = Histogram::<Grey<u16>>::new(65_536)?;
    let (found, _) = ticked!(platform, histogram, image: image => counts);
    check_equal(found, wanted)
}

fn sizes(platform: &Platform) -> Result<(), Failed> {
    for size @ [width, height] in [[0, 0], [0, 3], [1, 1], [2, 70], [8195, 2], [2731, 3]] {
        let rgb = noise(7, 3 * width * height);
        let mut wanted = vec![0_u32; 12];
        for (i, sample) in rgb.iter().enumerate() {
            wanted[i % 3 * 4 + usize::from(sample / 64)] += 1;
        }
        let image = image::<Rgb<u8>>(platform, &rgb, size, 3)?;
        let (found, _) = ticked!(platform, Histogram::<Rgb<u8>>::new(4)?, image: image => counts);
        check_equal(found, wanted)?;
    }
    Ok(())
}

/// A slope with noise, in a part of the range.
fn picture([width, height]: [usize; 2]) -> Vec<u8> {
    let noise = noise(5, width * height);
    let value = |(i, noise): (usize, u8)| {
        ((40 + i % width + 2 * (i / width) + usize::from(noise / 16)) % 256) as u8
    };
    noise.into_iter().enumerate().map(value).collect()
}

fn equalized(platform: &Platform) -> Result<(), Failed> {
    for padding in [0, 7] {
        let source = image::<Grey<u8>>(platform, &picture(SIZE), SIZE, padding)?;
        let (found, sent) = ticked!(platform, Equalize::new(), image: source => equalized);
        check_equal((sent.width(), sent.height(), sent.pitch()), (SIZE[0], SIZE[1], SIZE[0]))?;
        references()?.check("equalize", &found, 0.0)?;
    }
    // An image of one value keeps it.
    for (size, value) in [([1, 1], 77), ([5, 3], 0), ([4, 1], 255), ([0, 2], 0)] {
        let same = vec![value; size[0] * size[1]];
        let source = image::<Grey<u8>>(platform, &same, size, 3)?;
        let (found, _) = ticked!(platform, Equalize::new(), image: source => equalized);
        check_equal(found, same)?;
    }
    Ok(())
}

fn adapted(platform: &Platform) -> Result<(), Failed> {
    let cases = [
        ([48, 32], [8, 8], 2.0),
        ([37, 23], [4, 3], 3.0),
        ([40, 23], [8, 8], 40.0),
        ([37, 24], [3, 4], 0.0),
        ([5, 3], [8, 8], 2.0),
        ([1, 1], [2, 2], 2.0),
        ([19, 1], [1, 1], 1.5),
    ];
    for (size, tiles, limit) in cases {
        for padding in [0, 3] {
            let source = image::<Grey<u8>>(platform, &picture(size), size, padding)?;
            let equalize = Equalize::adaptive(tiles, limit)?;
            let (found, _) = ticked!(platform, equalize, image: source => equalized);
            let name = format!("adaptive_{}_{}_{}_{}", size[0], size[1], tiles[0], tiles[1]);
            check_equal(found.len(), size[0] * size[1])?;
            references()?.check(&name, &found, 0.0)?;
        }
    }
    let source = image::<Grey<u8>>(platform, &[], [0, 4], 3)?;
    let equalize = Equalize::adaptive([8, 8], 2.0)?;
    let (found, _) = ticked!(platform, equalize, image: source => equalized);
    check_equal(found, vec![])
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let text = |what: &str, result: Result<()>| check_error(what, result, |_| true);
    let of = |bins, low, high| Histogram::<Grey<u8>>::with_range(bins, low, high).map(drop);
    check_text(&text("no bins", of(0, 0.0, 1.0))?, &["`Histogram`", "0 bins", "16,777,216"])?;
    check_text(&text("many bins", of(usize::MAX, 0.0, 1.0))?, &["bins"])?;
    check_text(&text("an empty range", of(4, 2.0, 2.0))?, &["from 2 to 2"])?;
    check_text(&text("a NaN", of(4, f32::NAN, 2.0))?, &["NaN"])?;
    check_text(&text("no end", of(4, 0.0, f32::INFINITY))?, &["inf"])?;
    let of = |tiles, limit| Equalize::adaptive(tiles, limit).map(drop);
    check_text(&text("no tiles", of([4, 0], 2.0))?, &["`Equalize`", "4 × 0"])?;
    check_text(&text("a limit below 0", of([4, 4], -1.0))?, &["-1"])?;
    check_text(&text("a limit of NaN", of([4, 4], f64::NAN))?, &["NaN"])?;
    // A width whose area is no `usize` needs no memory if there are no rows.
    let wide: Image<Grey<u8>> = Image::new(tensor(platform, &[], &[0, 1 << 40])?, 1 << 40, 0)?;
    let (found, _) = ticked!(platform, Histogram::<Grey<u8>>::new(2)?, image: wide => counts);
    check_equal(found, vec![0, 0])
}
