//! `Convert`: every format beside OpenCV and the recommendations.

use streamflow::prelude::*;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};
use streamflow_vision::format::{
    Bayer, Bgr, Format, Grey, I420, Nv12, P010, Rgb, Rgba, Target, Yuyv,
};
use streamflow_vision::{Colour, Convert, Image, Matrix, Mosaic, Range, Sample, Siting};

use super::data::{Elements, References, image, tensor, ticked};

const SIZE: [usize; 2] = [38, 26];
const AREA: usize = SIZE[0] * SIZE[1];

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("formats_are_those_of_opencv", like_opencv)
        .both("colours_are_those_of_the_recommendations", recommendations)
        .both("rows_of_yuyv_have_chroma_of_two_pixels", yuyv)
        .both("ten_bits_are_in_the_upper_ones", ten_bits)
        .both("a_sensor_has_any_mosaic_and_number_of_bits", sensors)
        .both("samples_of_all_types_are_scaled", types)
        .both("images_have_any_size", sizes)
        .both("a_size_that_a_format_can_not_have_is_an_error", refused)
}

fn references() -> Result<References> {
    References::new(include_str!("../../references/vision_formats.json"))
}

fn noise(seed: u64, count: usize) -> Vec<u8> {
    Random::new(seed).bytes(count)
}

/// Converts noise in rows with padding, and compares the result with a case, which may have the first rows alone.
fn compare<A: Format, B: Target>(
    platform: &Platform,
    name: &str,
    samples: &[A::Sample],
    colours: [Colour; 2],
    off: f64,
    is_whole: bool,
) -> Result<(), Failed>
where
    A::Sample: From<u8>,
    B::Sample: Into<f64>,
{
    for padding in [0, 6] {
        let image = image::<A>(platform, samples, SIZE, padding)?.with_colour(colours[0]);
        let convert: Convert<A, B> = Convert::with_colour(colours[1]);
        let (found, sent) = ticked!(platform, convert, image: image => converted);
        check_equal((sent.width(), sent.height(), sent.colour()), (SIZE[0], SIZE[1], colours[1]))?;
        if is_whole {
            references()?.check(name, &found, off)?;
        } else {
            references()?.check_begin(name, &found, off)?;
        }
    }
    Ok(())
}

fn like_opencv(platform: &Platform) -> Result<(), Failed> {
    let same = [Colour::default(); 2];
    let rgb = noise(1, 3 * AREA);
    compare::<Rgb<u8>, Bgr<u8>>(platform, "rgb_to_bgr", &rgb, same, 0.0, true)?;
    compare::<Rgb<u8>, Grey<u8>>(platform, "rgb_to_grey", &rgb, same, 1.0, true)?;
    compare::<Rgb<u8>, Rgba<u8>>(platform, "rgb_to_rgba", &rgb, same, 0.0, true)?;
    compare::<Grey<u8>, Rgb<u8>>(platform, "grey_to_rgb", &noise(2, AREA), same, 0.0, true)?;
    // OpenCV takes luma below 16 for 16, so there is none.
    let legal = |seed, count| noise(seed, count).into_iter().map(|sample| sample.max(16)).collect();
    let planes: Vec<u8> = legal(3, AREA * 3 / 2);
    compare::<Nv12, Rgb<u8>>(platform, "nv12_to_rgb", &planes, same, 1.0, true)?;
    compare::<I420, Bgr<u8>>(platform, "i420_to_bgr", &planes, same, 1.0, true)?;
    compare::<Yuyv, Rgb<u8>>(platform, "yuyv_to_rgb", &legal(4, 2 * AREA), same, 1.0, true)?;
    let quarter = noise(5, 3 * AREA);
    let [width, height] = SIZE;
    let mut blocks = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let at = 3 * (y / 2 * width + x / 2);
            blocks.extend_from_slice(&quarter[at..at + 3]);
        }
    }
    compare::<Rgb<u8>, I420>(platform, "rgb_to_i420", &blocks, same, 1.0, true)
}

fn recommendations(platform: &Platform) -> Result<(), Failed> {
    let (planes, rgb) = (noise(3, AREA * 3 / 2), noise(1, 3 * AREA));
    for (matrix, of) in [(Matrix::Bt601, "601"), (Matrix::Bt709, "709"), (Matrix::Bt2020, "2020")] {
        for (range, kind) in [(Range::Limited, "limited"), (Range::Full, "full")] {
            let colour = Colour { matrix, range, ..Colour::default() };
            let both = [colour; 2];
            compare::<Nv12, Rgb<u8>>(
                platform,
                &format!("nv12_{of}_{kind}"),
                &planes,
                both,
                0.0,
                false,
            )?;
            // The source's colour has no part in it.
            let both = [Colour::default(), colour];
            check_planes(platform, &format!("to_nv12_{of}_{kind}"), &rgb, both, 4, 2)?;
        }
    }
    for (siting, of) in
        [(Siting::Center, "center"), (Siting::Left, "left"), (Siting::TopLeft, "top_left")]
    {
        let colour = Colour { matrix: Matrix::Bt709, range: Range::Limited, siting };
        compare::<Nv12, Rgb<u8>>(
            platform,
            &format!("nv12_{of}"),
            &planes,
            [colour; 2],
            0.0,
            false,
        )?;
        check_planes(platform, &format!("to_nv12_{of}"), &rgb, [colour; 2], 0, 4)?;
        // I420 has the same chroma in two planes.
        let chroma = planes[AREA..].chunks_exact(2);
        let (blue, red): (Vec<u8>, Vec<u8>) = chroma.map(|pair| (pair[0], pair[1])).unzip();
        let planar = [&planes[..AREA], &blue[..], &red[..]].concat();
        compare::<I420, Rgb<u8>>(
            platform,
            &format!("nv12_{of}"),
            &planar,
            [colour; 2],
            0.0,
            false,
        )?;
    }
    Ok(())
}

/// Compares the first rows of luma, and then those of chroma, with a case, in NV12 and in I420.
fn check_planes(
    platform: &Platform,
    name: &str,
    rgb: &[u8],
    [from, to]: [Colour; 2],
    luma: usize,
    chroma: usize,
) -> Result<(), Failed> {
    let [width, _] = SIZE;
    let source = image::<Rgb<u8>>(platform, rgb, SIZE, 5)?.with_colour(from);
    let (found, _) =
        ticked!(platform, Convert::<Rgb<u8>, Nv12>::with_colour(to), image: source => converted);
    let rows = |first: usize, count: usize| &found[first * width..][..count * width];
    let both = [rows(0, luma), rows(SIZE[1], chroma)].concat();
    references()?.check(name, &both, 0.0)?;
    let source = image::<Rgb<u8>>(platform, rgb, SIZE, 0)?.with_colour(from);
    let (planar, _) =
        ticked!(platform, Convert::<Rgb<u8>, I420>::with_colour(to), image: source => converted);
    check_equal(&planar[..AREA], &found[..AREA])?;
    let (blue, red) = planar[AREA..].split_at(AREA / 4);
    let together: Vec<u8> = blue.iter().zip(red).flat_map(|(blue, red)| [*blue, *red]).collect();
    check_equal(&together[..], &found[AREA..])
}

fn yuyv(platform: &Platform) -> Result<(), Failed> {
    let (pairs, rgb) = (noise(4, 2 * AREA), noise(1, 3 * AREA));
    for (siting, of) in [
        (Siting::Block, "block"),
        (Siting::Center, "center"),
        (Siting::Left, "left"),
        (Siting::TopLeft, "left"),
    ] {
        let both = [Colour { matrix: Matrix::Bt709, siting, ..Colour::default() }; 2];
        let (from, to) = (format!("yuyv_{of}"), format!("to_yuyv_{of}"));
        compare::<Yuyv, Rgb<u8>>(platform, &from, &pairs, both, 0.0, false)?;
        compare::<Rgb<u8>, Yuyv>(platform, &to, &rgb, both, 0.0, false)?;
    }
    Ok(())
}

fn ten_bits(platform: &Platform) -> Result<(), Failed> {
    let colour = Colour { matrix: Matrix::Bt2020, ..Colour::default() };
    let count = AREA * 3 / 2;
    let low = noise(8, count);
    let samples = noise(7, count).into_iter().zip(low);
    let samples: Vec<u16> =
        samples.map(|(high, low)| (u16::from(high) * 4 + u16::from(low % 4)) << 6).collect();
    compare::<P010, Rgb<u16>>(platform, "p010_to_rgb", &samples, [colour; 2], 1.0, false)?;
    let source = image::<Rgb<u8>>(platform, &noise(1, 3 * AREA), SIZE, 0)?;
    let (found, _) = ticked!(platform, Convert::<Rgb<u8>, P010>::with_colour(colour), image: source => converted);
    let both = [&found[..4 * SIZE[0]], &found[AREA..][..2 * SIZE[0]]].concat();
    references()?.check("rgb_to_p010", &both, 0.0)
}

fn sensors(platform: &Platform) -> Result<(), Failed> {
    let [width, height] = SIZE;
    let mosaics = [
        (Mosaic::Rggb, "RGGB"),
        (Mosaic::Grbg, "GRBG"),
        (Mosaic::Gbrg, "GBRG"),
        (Mosaic::Bggr, "BGGR"),
    ];
    for (mosaic, name) in mosaics {
        let inner = |all: &[u8]| -> Vec<u8> {
            let rows = all.chunks(3 * width).skip(1).take(height - 2);
            rows.flat_map(|row| row[3..3 * (width - 1)].to_vec()).collect()
        };
        let source =
            image::<Bayer<u8>>(platform, &noise(6, AREA), SIZE, 3)?.with_mosaic(mosaic, 8)?;
        let (found, _) =
            ticked!(platform, Convert::<Bayer<u8>, Rgb<u8>>::new(), image: source => converted);
        references()?.check(&format!("bayer_{name}"), &inner(&found), 1.0)?;
        for bits in [10, 12, 16] {
            // The same brightness, up to rounding.
            let full = (1_u32 << bits) - 1;
            let samples: Vec<u16> = noise(6, AREA)
                .into_iter()
                .map(|sample| (u32::from(sample) * full / 255) as u16)
                .collect();
            let source =
                image::<Bayer<u16>>(platform, &samples, SIZE, 3)?.with_mosaic(mosaic, bits)?;
            let (deep, _) = ticked!(platform, Convert::<Bayer<u16>, Rgb<u8>>::new(), image: source => converted);
            references()?.check(&format!("bayer_{name}"), &inner(&deep), 1.0)?;
        }
    }
    let image = image::<Bayer<u8>>(platform, &noise(6, AREA), SIZE, 0)?;
    let text = check_error("nine bits of eight", image.with_mosaic(Mosaic::Rggb, 9), |_| true)?;
    check_text(&text, &["9 bits", "1 to 8"])
}

fn types(platform: &Platform) -> Result<(), Failed> {
    fn both<A: Sample + From<u8>, B: Sample + Into<f64>>(
        platform: &Platform,
        samples: &[A],
        wanted: &[f64],
    ) -> Result<(), Failed> {
        let source = image::<Rgba<A>>(platform, samples, [3, 1], 1)?;
        let (found, _) =
            ticked!(platform, Convert::<Rgba<A>, Rgba<B>>::new(), image: source => converted);
        streamflow_tests::check_close(&found, wanted, |wanted: f64| 1e-6 * wanted.abs())
    }
    let bytes = [0_u8, 1, 128, 255, 7, 8, 9, 10, 250, 3, 4, 100];
    let halves = [0.5_f32, 0.25, -1.0, 2.0, 0.0, 1.0, 0.75, 1.0, 0.1, 0.2, 0.3, 0.4];
    both::<u8, u8>(platform, &bytes, &bytes.map(f64::from))?;
    both::<u8, u16>(platform, &bytes, &bytes.map(|byte| f64::from(byte) * 257.0))?;
    both::<u8, f32>(platform, &bytes, &bytes.map(|byte| f64::from(byte) / 255.0))?;
    both::<u16, u8>(platform, &bytes.map(|byte| u16::from(byte) * 257), &bytes.map(f64::from))?;
    both::<f32, f32>(platform, &halves, &halves.map(f64::from))?;
    // Halves are rounded to the even number, and values beyond the range are limited.
    let wanted = [128.0, 64.0, 0.0, 255.0, 0.0, 255.0, 191.0, 255.0, 26.0, 51.0, 76.0, 102.0];
    both::<f32, u8>(platform, &halves, &wanted)
}

fn sizes(platform: &Platform) -> Result<(), Failed> {
    for size @ [width, height] in
        [[1, 1], [0, 0], [0, 4], [5, 3], [127, 2], [129, 3], [131, 1], [256, 5], [259, 2]]
    {
        let rgb = noise(1, 3 * width * height);
        for padding in [0, 1, 16] {
            let source = image::<Rgb<u8>>(platform, &rgb, size, padding)?;
            let (found, sent) =
                ticked!(platform, Convert::<Rgb<u8>, Rgba<u8>>::new(), image: source => converted);
            check_equal((sent.width(), sent.height()), (width, height))?;
            let wanted =
                rgb.chunks(3).flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255]).collect();
            check_equal(found, wanted)?;
        }
    }
    // Four pixels that share chroma.
    let source = image::<Nv12>(platform, &[16, 235, 81, 145, 128, 128], [2, 2], 0)?;
    let (found, _) =
        ticked!(platform, Convert::<Nv12, Grey<u8>>::new(), image: source => converted);
    check_equal(found, vec![0, 255, 76, 150])
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let odd = tensor(platform, &[0_u8; 15], &[3, 5])?;
    let text = check_error("an odd width", Image::<Nv12>::new(odd, 5, 2).map(drop), |_| true)?;
    check_text(&text, &["NV12", "5 × 2", "even"])?;
    let short = tensor(platform, &[0_u8; 16], &[2, 8])?;
    let text =
        check_error("another pitch", Image::<Rgb<u8>>::new(short, 3, 2).map(drop), |_| true)?;
    check_text(&text, &["RGB", "3 × 2", "at least 9", "[2, 8]"])?;
    let few = tensor(platform, &[0_u8; 18], &[2, 9])?;
    let text = check_error("fewer rows", Image::<Rgb<u8>>::new(few, 3, 3).map(drop), |_| true)?;
    check_text(&text, &["3 rows", "[2, 9]"])?;
    let huge = tensor(platform, &[0_u8; 18], &[2, 9])?;
    let text = check_error(
        "a width near the end",
        Image::<Rgb<u8>>::new(huge, usize::MAX / 2, 2).map(drop),
        |_| true,
    )?;
    check_text(&text, &["[2, 9]"])?;
    let source = image::<Rgb<u8>>(platform, &noise(1, 3 * 5 * 3), [5, 3], 0)?;
    let mut harness =
        streamflow::testing::OperatorHarness::new(platform, Convert::<Rgb<u8>, Nv12>::new())?;
    harness.push(|ports| &mut ports.image, source)?;
    let text = check_error("an odd width to NV12", harness.tick(), |_| true)?;
    check_text(&text, &["`Convert`", "`image`", "NV12", "5 × 3"])
}
