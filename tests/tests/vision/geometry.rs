//! Sizes, borders, tables, places and neighbours beside OpenCV, Pillow and SciPy.

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};
use streamflow_vision::format::{Grey, Packed, Rgb, Rgba};
use streamflow_vision::{
    Blur, Border, Crop, Image, Interpolation, Lut, Morphology, Pad, Remap, Resize, Warp,
};

use super::data::{Elements, References, image, tensor, ticked};

const SIZE: [usize; 2] = [37, 23];
const AREA: usize = SIZE[0] * SIZE[1];
/// The largest difference of sums of `f32` in another order.
const NEAR: f64 = 2e-5;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("sizes_are_those_of_opencv_and_pillow", resized)
        .both("a_part_of_an_image_is_copied", cropped)
        .both("borders_are_those_of_opencv", padded)
        .both("tables_replace_samples", replaced)
        .both("places_are_those_of_scipy", warped)
        .both("means_are_those_of_opencv_and_scipy", blurred)
        .both("extremes_are_those_of_opencv", morphed)
        .both("one_pixel_and_no_pixels", smallest)
        .both("sizes_and_parts_that_do_not_fit_are_errors", refused)
}

fn references() -> Result<References> {
    References::new(include_str!("../../references/vision_geometry.json"))
}

fn rgb(platform: &Platform, padding: usize) -> Result<Image<Rgb<u8>>> {
    image(platform, &Random::new(1).bytes(3 * AREA), SIZE, padding)
}

fn grey(platform: &Platform, padding: usize) -> Result<Image<Grey<f32>>> {
    image(platform, &Random::new(2).floats(AREA), SIZE, padding)
}

/// Runs operators of one type on the image in grey or in RGB, with and without padding, and compares the results with cases.
macro_rules! compare {
    ($platform:expr, $output:ident, $image:ident: $($name:expr, $operator:expr, $off:expr;)+) => {$(
        for padding in [0, 5] {
            let (found, _) = ticked!($platform, $operator, image: $image($platform, padding)? => $output);
            references()?.check($name, &found, $off)?;
        }
    )+};
}

fn resized(platform: &Platform) -> Result<(), Failed> {
    use Interpolation::{Cubic, Linear, Nearest};
    for (name, kind) in [("nearest", Nearest), ("linear", Linear), ("cubic", Cubic)] {
        compare! {
            platform, resized, grey:
            &format!("resize_{name}_larger"), Resize::new(61, 40, kind)?, NEAR;
            &format!("resize_{name}_smaller"), Resize::new(17, 11, kind)?, NEAR;
        }
        compare! {
            platform, resized, rgb:
            &format!("resize_{name}_rgb"), Resize::new(29, 31, kind)?, if kind == Nearest { 0.0 } else { 1.0 };
        }
    }
    for (name, kind) in [("linear", Linear), ("cubic", Cubic)] {
        compare! {
            platform, resized, grey:
            &format!("resize_antialias_{name}"), Resize::new(17, 11, kind)?.antialias(), NEAR;
            &format!("resize_antialias_{name}_larger"), Resize::new(41, 30, kind)?.antialias(), NEAR;
        }
        compare! {
            platform, resized, rgb:
            &format!("resize_antialias_{name}_rgb"), Resize::new(17, 11, kind)?.antialias(), 1.0;
        }
    }
    compare! { platform, resized, grey: "resize_area", Resize::area(17, 11)?, NEAR; }
    compare! { platform, resized, rgb: "resize_area_rgb", Resize::area(17, 11)?, 1.0; }
    Ok(())
}

fn cropped(platform: &Platform) -> Result<(), Failed> {
    let all = Random::new(1).bytes(3 * AREA);
    for (from, size) in [([0, 0], SIZE), ([5, 7], [11, 3]), ([36, 22], [1, 1]), ([37, 0], [0, 4])] {
        let (found, sent) =
            ticked!(platform, Crop::new(from, size), image: rgb(platform, 4)? => cropped);
        let rows = all.chunks(3 * SIZE[0]).skip(from[1]).take(size[1]);
        let wanted = rows.flat_map(|row| row[3 * from[0]..][..3 * size[0]].to_vec()).collect();
        check_equal(found, wanted)?;
        check_equal([sent.width(), sent.height()], size)?;
    }
    Ok(())
}

fn padded(platform: &Platform) -> Result<(), Failed> {
    let all = Random::new(1).bytes(3 * AREA);
    let small: Vec<u8> = (0..5).flat_map(|y| all[y * 3 * SIZE[0]..][..12].to_vec()).collect();
    for (name, border) in [
        ("constant", Border::Constant([10.0, 20.0, 30.0, 0.0])),
        ("nearest", Border::Nearest),
        ("mirror", Border::Mirror),
        ("reflect", Border::Reflect),
        ("wrap", Border::Wrap),
    ] {
        let source = image::<Rgb<u8>>(platform, &small, [4, 5], 2)?;
        let (found, sent) =
            ticked!(platform, Pad::new([1, 2], [6, 3], border), image: source => padded);
        references()?.check(&format!("pad_{name}"), &found, 0.0)?;
        check_equal([sent.width(), sent.height()], [11, 10])?;
    }
    Ok(())
}

fn replaced(platform: &Platform) -> Result<(), Failed> {
    compare! {
        platform, replaced, rgb:
        "lut", Lut::new(Random::new(3).bytes(256))?, 0.0;
        "lut_channels", Lut::new(Random::new(4).bytes(768))?, 0.0;
    }
    let wide: Vec<u16> = (0..=u16::MAX).rev().collect();
    let source = image::<Grey<u16>>(platform, &[0, 7, u16::MAX], [3, 1], 1)?;
    let (found, _) = ticked!(platform, Lut::new(wide)?, image: source => replaced);
    check_equal(found, vec![u16::MAX, u16::MAX - 7, 0])?;
    let text = check_error("a short table", Lut::<Rgb<u8>>::new(vec![0; 255]), |_| true)?;
    check_text(&text, &["`Lut`", "255 samples", "256", "768"])
}

const BORDERS: [(&str, Border); 5] = [
    ("constant", Border::Constant([0.5; 4])),
    ("nearest", Border::Nearest),
    ("mirror", Border::Mirror),
    ("reflect", Border::Reflect),
    ("wrap", Border::Wrap),
];

fn warped(platform: &Platform) -> Result<(), Failed> {
    let affine = [[0.9, -0.3, 4.25], [0.2, 1.1, -2.5]];
    let perspective = [[1.1, 0.1, -3.0], [-0.05, 0.95, 2.0], [0.002, -0.001, 1.0]];
    for (name, border) in BORDERS {
        compare! {
            platform, warped, grey:
            &format!("warp_affine_{name}"), Warp::affine(affine, [33, 27])?.with_border(border), NEAR;
            &format!("warp_perspective_{name}"), Warp::perspective(perspective, [33, 27])?.with_border(border), NEAR;
        }
    }
    let (first, second) = (Random::new(5).floats(33 * 27), Random::new(6).floats(33 * 27));
    let noise = first.into_iter().zip(second).enumerate();
    let places: Vec<f32> = noise
        .flat_map(|(at, (dx, dy))| {
            let (x, y) = ((at % 33) as f64, (at / 33) as f64);
            [(x * 1.3 - 4.0 + f64::from(dx)) as f32, (y * 0.8 + f64::from(dy)) as f32]
        })
        .collect();
    let constant = Border::Constant([0.5; 4]);
    for (name, kind, border) in [
        ("remap_linear", Interpolation::Linear, constant),
        ("remap_nearest", Interpolation::Nearest, constant),
        ("remap_cubic", Interpolation::Cubic, Border::Nearest),
    ] {
        let places = tensor(platform, &places, &[27, 33, 2])?;
        let (found, _) = ticked!(platform, Remap::new(kind, border), image: grey(platform, 3)?, places: places => remapped);
        references()?.check(name, &found, NEAR)?;
    }
    // Places that no image has.
    let far = [f32::NAN, 0.0, f32::INFINITY, 0.0, 1e20, 1e20, 3.0, 2.0];
    let places = tensor(platform, &far, &[1, 4, 2])?;
    let (found, _) = ticked!(
        platform, Remap::new(Interpolation::Linear, constant), image: grey(platform, 0)?, places: places => remapped
    );
    check_equal(found, vec![0.5, 0.5, 0.5, Random::new(2).floats(AREA)[2 * SIZE[0] + 3]])
}

fn blurred(platform: &Platform) -> Result<(), Failed> {
    for (name, border) in
        BORDERS.into_iter().filter(|(name, _)| ["nearest", "mirror", "reflect"].contains(name))
    {
        compare! {
            platform, blurred, grey:
            &format!("blur_mean_{name}"), Blur::mean(5, 3)?.with_border(border), NEAR;
            &format!("blur_gaussian_{name}"), Blur::gaussian(1.5)?.with_border(border), NEAR;
        }
    }
    compare! {
        platform, blurred, grey:
        "blur_constant", Blur::gaussian(2.0)?.with_border(Border::Constant([0.25; 4])), NEAR;
        "blur_gaussian_of", Blur::gaussian_of(1.1, 7)?, NEAR;
    }
    compare! {
        platform, blurred, rgb:
        "blur_mean_rgb", Blur::mean(3, 7)?, 1.0;
        "blur_gaussian_rgb", Blur::gaussian_of(1.2, 5)?, 1.0;
    }
    Ok(())
}

fn morphed(platform: &Platform) -> Result<(), Failed> {
    let mut shape: Vec<bool> =
        Random::new(7).bytes(15).into_iter().map(|byte| byte > 100).collect();
    shape[7] = true;
    fn all<F: Packed>() -> Result<[(&'static str, Morphology<F>); 4]> {
        Ok([
            ("erode", Morphology::erode(5, 3)?),
            ("dilate", Morphology::dilate(5, 3)?),
            ("open", Morphology::open(5, 3)?),
            ("close", Morphology::close(5, 3)?),
        ])
    }
    for (name, operator) in all()? {
        let (found, _) = ticked!(platform, operator, image: rgb(platform, 5)? => changed);
        references()?.check(&format!("morph_{name}"), &found, 0.0)?;
    }
    for (name, operator) in all()? {
        let operator = operator.with_element(&shape)?;
        let (found, _) = ticked!(platform, operator, image: grey(platform, 0)? => changed);
        references()?.check(&format!("morph_{name}_shape"), &found, NEAR)?;
    }
    Ok(())
}

fn smallest(platform: &Platform) -> Result<(), Failed> {
    let pixel = |padding| image::<Rgba<u8>>(platform, &[9, 8, 7, 6], [1, 1], padding);
    let one = [9_u8, 8, 7, 6];
    let (found, _) =
        ticked!(platform, Resize::new(2, 1, Interpolation::Cubic)?, image: pixel(1)? => resized);
    check_equal(found, [one, one].concat())?;
    for border in [Border::Nearest, Border::Mirror, Border::Reflect, Border::Wrap] {
        let (found, _) =
            ticked!(platform, Pad::new([3, 0], [4, 1], border), image: pixel(1)? => padded);
        check_equal(found, one.repeat(16))?;
        let (found, _) =
            ticked!(platform, Blur::mean(5, 5)?.with_border(border), image: pixel(2)? => blurred);
        check_equal(found, one.to_vec())?;
    }
    let (found, _) = ticked!(platform, Morphology::close(7, 7)?, image: pixel(0)? => changed);
    check_equal(found, one.to_vec())?;
    let none = || image::<Rgba<u8>>(platform, &[], [0, 3], 0);
    let (found, _) = ticked!(platform, Blur::mean(5, 5)?, image: none()? => blurred);
    check_equal(found, Vec::new())?;
    let (found, _) = ticked!(platform, Morphology::open(3, 3)?, image: none()? => changed);
    check_equal(found, Vec::new())?;
    let (found, _) = ticked!(platform, Warp::affine([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [1, 1])?, image: none()? => warped);
    check_equal(found, vec![0; 4])
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Crop::<Rgb<u8>>::new([30, 0], [8, 2]))?;
    harness.push(|ports| &mut ports.image, rgb(platform, 0)?)?;
    let text = check_error("a part beyond", harness.tick(), |_| true)?;
    check_text(&text, &["`Crop`", "8 × 2", "column 30", "`image`", "37 × 23"])?;
    let mut harness =
        OperatorHarness::new(platform, Resize::<Rgb<u8>>::new(4, 4, Interpolation::Linear)?)?;
    harness.push(|ports| &mut ports.image, image(platform, &[], [0, 0], 0)?)?;
    let text = check_error("no pixels", harness.tick(), |_| true)?;
    check_text(&text, &["`Resize`", "4 × 4", "`image`", "0 × 0"])?;
    let near = 1_usize << 32;
    for size in [[0, 4], [4, 0], [near, near], [usize::MAX, 2]] {
        let made = Resize::<Rgb<u8>>::new(size[0], size[1], Interpolation::Linear);
        let text = check_error("a size", made, |_| true)?;
        check_text(&text, &["`Resize`", &format!("{} × {}", size[0], size[1])])?;
    }
    let mut harness =
        OperatorHarness::new(platform, Pad::<Rgb<u8>>::new([usize::MAX, 0], [0, 0], Border::Wrap))?;
    harness.push(|ports| &mut ports.image, rgb(platform, 0)?)?;
    check_text(
        &check_error("a border", harness.tick(), |_| true)?,
        &["`Pad`", "`image`", "37 × 23"],
    )?;
    let text = check_error(
        "no inverse",
        Warp::<Rgb<u8>>::affine([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]], [4, 4]),
        |_| true,
    )?;
    check_text(&text, &["`Warp`", "no inverse"])?;
    let mut harness =
        OperatorHarness::new(platform, Remap::<Rgb<u8>>::new(Interpolation::Linear, Border::Wrap))?;
    harness.push(|ports| &mut ports.image, rgb(platform, 0)?)?;
    harness.push(|ports| &mut ports.places, tensor(platform, &[0.0; 12], &[2, 2, 3])?)?;
    check_text(
        &check_error("places", harness.tick(), |_| true)?,
        &["`Remap`", "`places`", "[2, 2, 3]"],
    )?;
    check_text(
        &check_error("even", Blur::<Rgb<u8>>::mean(4, 3), |_| true)?,
        &["`Blur`", "4 weights"],
    )?;
    for deviation in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        check_text(
            &check_error("deviation", Blur::<Rgb<u8>>::gaussian(deviation), |_| true)?,
            &["`Blur`"],
        )?;
    }
    check_text(
        &check_error("even", Morphology::<Rgb<u8>>::erode(3, 2), |_| true)?,
        &["`Morphology`", "3 × 2"],
    )?;
    let none = Morphology::<Rgb<u8>>::erode(3, 1)?.with_element(&[false; 3]);
    check_text(&check_error("no neighbour", none, |_| true)?, &["`Morphology`", "0 count"])
}
