//! `Overlay`, beside OpenCV and the rules of the shapes.

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};
use streamflow_vision::format::{Grey, Packed, Rgb, Rgba};
use streamflow_vision::{Drawing, Image, Overlay, Paint};

use super::data::{Elements, References, image, ticked};

pub(super) const SIZE: [usize; 2] = [41, 30];
pub(super) const AREA: usize = SIZE[0] * SIZE[1];

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("boxes_and_lines_are_those_of_opencv", like_opencv)
        .both("thick_lines_have_the_pixels_within_half_of_the_thickness", thick_lines)
        .both("text_has_the_rows_of_the_font", text)
        .both("colours_are_blended_in_each_format", colours)
        .both("shapes_beyond_the_image_are_clipped", clipped)
        .both("staging_is_used_again", staging)
        .both("shapes_that_can_not_be_drawn_are_errors", refused)
}

pub(super) fn references() -> Result<References> {
    References::new(include_str!("../../references/vision_detection.json"))
}

/// Draws on an image, and returns its samples and those of its padding.
pub(super) fn drawn<F: Packed>(
    platform: &Platform,
    samples: &[F::Sample],
    size: [usize; 2],
    padding: usize,
    drawings: Vec<Drawing>,
) -> Result<Vec<F::Sample>, Failed>
where
    F::Sample: From<u8>,
{
    let source = image::<F>(platform, samples, size, padding)?;
    let before = platform.default_stream(device(0))?.download_blocking(source.samples())?;
    let overlay = Overlay::<F>::new();
    let (found, sent) =
        ticked!(platform, overlay, image: source, drawings: HostData(drawings) => drawn);
    unpadded::<F>(&sent, &before, &found)
}

/// Returns the samples without padding, which must be as before.
pub(super) fn unpadded<F: Packed>(
    image: &Image<F>,
    before: &[F::Sample],
    found: &[F::Sample],
) -> Result<Vec<F::Sample>, Failed> {
    let (row, pitch) = (image.width() * F::CHANNELS, image.pitch());
    let padding = |all: &[F::Sample]| -> Vec<F::Sample> {
        all.chunks(pitch.max(1)).flat_map(|all| all[row..].to_vec()).collect()
    };
    check(padding(before) == padding(found), || "padding was written".to_owned())?;
    Ok(found.chunks(pitch.max(1)).flat_map(|all| all[..row].to_vec()).collect())
}

pub(super) fn grey(value: f32) -> Paint {
    Paint::opaque([value, 1.0, 2.0, 3.0])
}

fn boxed(from: [f32; 2], to: [f32; 2], value: f32) -> Drawing {
    Drawing::Box { from, to, thickness: 1.0, paint: grey(value) }
}

fn line(from: [f32; 2], to: [f32; 2], thickness: f32, value: f32) -> Drawing {
    Drawing::Line { from, to, thickness, paint: grey(value) }
}

fn written(at: [f32; 2], text: &'static str, scale: u32) -> Drawing {
    Drawing::Text { at, text: text.into(), scale, paint: grey(255.0) }
}

/// The corners of the reference's boxes.
pub(super) const BOXES: [[[f32; 2]; 2]; 4] = [
    [[3.0, 4.0], [20.0, 15.0]],
    [[-5.0, 10.0], [8.0, 50.0]],
    [[30.0, 2.0], [60.0, 2.0]],
    [[25.0, 20.0], [25.0, 25.0]],
];

fn like_opencv(platform: &Platform) -> Result<(), Failed> {
    let boxes = BOXES.iter().zip(1_u8..);
    let boxes: Vec<Drawing> =
        boxes.map(|([from, to], i)| boxed(*to, *from, 50.0 * f32::from(i))).collect();
    let areas = [([35.0, 25.0], [50.0, 27.0], 200.0), ([2.0, 3.0], [2.0, 3.0], 100.0)];
    let areas = areas.map(|(from, to, value)| Drawing::Area { from, to, paint: grey(value) });
    let lines = [
        line([0.0, 7.0], [100.0, 7.0], 1.0, 60.0),
        line([9.0, 20.0], [9.0, 12.0], 1.0, 61.0),
        line([10.0, 10.0], [10.0, 10.0], 1.0, 62.0),
    ];
    for padding in [0, 7] {
        let black = [0; AREA];
        let found = drawn::<Grey<u8>>(platform, &black, SIZE, padding, boxes.clone())?;
        references()?.check("boxes_drawn", &found, 0.0)?;
        let both = areas.iter().chain(&lines).cloned().collect();
        let found = drawn::<Grey<u8>>(platform, &black, SIZE, padding, both)?;
        references()?.check("lines_drawn", &found, 0.0)?;
    }
    Ok(())
}

fn thick_lines(platform: &Platform) -> Result<(), Failed> {
    let lines = vec![
        line([2.0, 3.0], [30.0, 17.0], 1.0, 50.0),
        line([35.5, 1.25], [20.75, 28.5], 4.5, 100.0),
        line([-3.0, 25.0], [12.0, 35.0], 3.0, 150.0),
        line([5.0, 12.0], [5.0, 12.0], 6.0, 200.0),
    ];
    let found = drawn::<Grey<u8>>(platform, &[0; AREA], SIZE, 2, lines)?;
    references()?.check("thick_lines_drawn", &found, 0.0)
}

fn text(platform: &Platform) -> Result<(), Failed> {
    let rows = |samples: &[u8], width: usize| -> Vec<String> {
        let char = |sample: &u8| if *sample == 0 { '.' } else { '#' };
        samples.chunks(width).map(|row| row.iter().map(char).collect()).collect()
    };
    let found = drawn::<Grey<u8>>(
        platform,
        &[0; 27 * 28],
        [27, 28],
        3,
        vec![written([1.4, 0.6], "A~\n\nL", 1)],
    )?;
    let found = rows(&found, 27);
    let wanted = [
        "...........................",
        "...........................",
        "...........................",
        "....##.....#..#............",
        "...#..#...#.#.#............",
        "..#....#..#..#.............",
        "..#....#...................",
        "..#....#...................",
        "..######...................",
        "..#....#...................",
        "..#....#...................",
        "..#....#...................",
    ];
    check_equal(&found[..12], &wanted.map(str::to_owned)[..])?;
    check(found[14..27].iter().all(|row| !row.contains('#')), || format!("{found:#?}"))?;
    // A character that is three times as large has nine pixels for one.
    let once =
        drawn::<Grey<u8>>(platform, &[0; 8 * 13], [8, 13], 0, vec![written([0.0; 2], "g", 1)])?;
    let large =
        drawn::<Grey<u8>>(platform, &[0; 24 * 39], [24, 39], 0, vec![written([0.0; 2], "g", 3)])?;
    let wanted: Vec<u8> = (0..24 * 39).map(|i| once[i / 24 / 3 * 8 + i % 24 / 3]).collect();
    check_equal(large, wanted)?;
    // Clipped on all sides, it is a part of the whole.
    let whole = drawn::<Grey<u8>>(
        platform,
        &[0; 40 * 20],
        [40, 20],
        0,
        vec![written([3.0, 2.0], "Wxyz", 1)],
    )?;
    let part = drawn::<Grey<u8>>(
        platform,
        &[0; 20 * 8],
        [20, 8],
        0,
        vec![written([-6.0, -3.0], "Wxyz", 1)],
    )?;
    let wanted: Vec<u8> = (0..160).map(|i| whole[(i / 20 + 5) * 40 + i % 20 + 9]).collect();
    check_equal(part, wanted)
}

fn colours(platform: &Platform) -> Result<(), Failed> {
    let paint = Paint { colour: [200.0, -5.0, 300.0, 7.0], opacity: 0.5 };
    let area = Drawing::Area { from: [1.0, 0.0], to: [1.0, 0.0], paint };
    let found = drawn::<Rgba<u8>>(platform, &[10; 8], [2, 1], 3, vec![area.clone()])?;
    // Halves are rounded to the even number, as 2.5, and the sums are limited.
    check_equal(found, vec![10, 10, 10, 10, 105, 2, 155, 8])?;
    let found = drawn::<Rgb<u16>>(platform, &[65_001; 6], [2, 1], 0, vec![area.clone()])?;
    check_equal(found[3..].to_vec(), vec![32_600, 32_498, 32_650])?;
    let found = drawn::<Grey<f32>>(platform, &[-1.5, 0.25], [2, 1], 0, vec![area.clone()])?;
    check_equal(found, vec![-1.5, 100.125])?;
    // Two shapes are rounded once: 10, 105, 152.5.
    let found = drawn::<Grey<u8>>(platform, &[10; 2], [2, 1], 0, vec![area.clone(), area])?;
    check_equal(found, vec![10, 152])?;
    let none = Paint { opacity: 0.0, ..grey(200.0) };
    let area = Drawing::Area { from: [0.0; 2], to: [9.0; 2], paint: none };
    check_equal(drawn::<Grey<u8>>(platform, &[10; 2], [2, 1], 0, vec![area])?, vec![10; 2])
}

fn clipped(platform: &Platform) -> Result<(), Failed> {
    let far = 16_777_216.0;
    let beyond = vec![
        boxed([-9.0, -9.0], [-2.0, -2.0], 9.0),
        boxed([-far; 2], [far; 2], 9.0),
        line([3.0, 50.0], [99.0, 50.0], 1.0, 9.0),
        written([100.0, 3.0], "right", 1),
        written([-200.0, 3.0], "left", 1),
        written([0.0, 0.0], "", 1),
        written([0.0, 0.0], "\n\n", 1),
    ];
    let noise = Random::new(3).bytes(AREA);
    let found = drawn::<Grey<u8>>(platform, &noise, SIZE, 1, beyond)?;
    check_equal(found, noise.clone())?;
    check_equal(drawn::<Grey<u8>>(platform, &noise, SIZE, 1, vec![])?, noise)?;
    let across = vec![line([-far, 1.0], [far, 1.0], 1.0, 9.0)];
    let found = drawn::<Grey<u8>>(platform, &[0; 12], [4, 3], 1, across)?;
    check_equal(found, vec![0, 0, 0, 0, 9, 9, 9, 9, 0, 0, 0, 0])?;
    for size in [[0, 0], [0, 3], [1, 1]] {
        let area = Drawing::Area { from: [-9.0; 2], to: [9.0; 2], paint: grey(7.0) };
        let count = size[0] * size[1];
        let found = drawn::<Grey<u8>>(platform, &vec![0; count], size, 2, vec![area])?;
        check_equal(found, vec![7; count])?;
    }
    Ok(())
}

/// More ticks than copies may be on their way, of more and fewer shapes.
fn staging(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Overlay::<Grey<u8>>::new())?;
    let mut sent = Vec::new();
    for tick in 0..12_usize {
        let count = [1, 9, 3, 0, 20][tick % 5];
        let drawings: Vec<Drawing> = (0..count)
            .map(|i| line([i as f32, tick as f32], [i as f32, tick as f32], 1.0, 1.0 + tick as f32))
            .collect();
        let image = image::<Grey<u8>>(platform, &[0; 32 * 12], [32, 12], 0)?;
        harness.push(|ports| &mut ports.image, image)?;
        harness.push(|ports| &mut ports.drawings, HostData(drawings))?;
        check(harness.tick()?, || "no tick".to_owned())?;
        let message = harness.take(|ports| &mut ports.drawn);
        let message = message.ok_or_else(|| Failure::msg("nothing was sent"))?;
        sent.push((tick, count, message.message));
    }
    for (tick, count, image) in sent {
        let found = harness.stream().download_blocking(image.samples())?;
        let mut wanted = vec![0; 32 * 12];
        wanted[32 * tick..][..count].fill(1 + tick as u8);
        check_equal(found, wanted)?;
    }
    Ok(())
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let good = boxed([0.0; 2], [1.0; 2], 1.0);
    let tick = |bad: Drawing| -> Result<String, Failed> {
        let mut harness = OperatorHarness::new(platform, Overlay::<Grey<u8>>::new())?;
        let image = image::<Grey<u8>>(platform, &[0; 6], [3, 2], 0)?;
        harness.push(|ports| &mut ports.image, image)?;
        harness.push(|ports| &mut ports.drawings, HostData(vec![good.clone(), bad]))?;
        let text = check_error("a bad shape", harness.tick(), |_| true)?;
        check_text(&text, &["`Overlay`", "`drawings`", "element 1"])?;
        Ok(text)
    };
    check_text(&tick(boxed([f32::NAN, 0.0], [1.0; 2], 1.0))?, &["NaN", "finite"])?;
    check_text(&tick(boxed([0.0; 2], [1.0, f32::INFINITY], 1.0))?, &["inf"])?;
    check_text(&tick(line([0.0; 2], [1e9, 0.0], 1.0, 1.0))?, &["2²⁴"])?;
    check_text(&tick(line([0.0; 2], [1.0; 2], 0.5, 1.0))?, &["thickness of 0.5"])?;
    check_text(&tick(line([0.0; 2], [1.0; 2], f32::NAN, 1.0))?, &["thickness of NaN"])?;
    check_text(&tick(written([0.0; 2], "1 µm", 1))?, &["'µ'", "ASCII"])?;
    check_text(&tick(written([0.0; 2], "a\tb", 1))?, &["'\\t'"])?;
    check_text(&tick(written([0.0; 2], "a", 0))?, &["scale of 0"])?;
    check_text(&tick(written([f32::NAN; 2], "a", 1))?, &["NaN"])?;
    check_text(&tick(boxed([0.0; 2], [1.0; 2], f32::NAN))?, &["colour", "NaN"])?;
    let paint = Paint { opacity: 1.5, ..grey(1.0) };
    let area = Drawing::Area { from: [0.0; 2], to: [1.0; 2], paint };
    check_text(&tick(area)?, &["opacity 1.5"])
}
