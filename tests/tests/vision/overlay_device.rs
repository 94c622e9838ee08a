//! `OverlayBoxes` and `OverlayMask`, beside `Overlay` and OpenCV.

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};
use streamflow_vision::format::{Grey, Rgb};
use streamflow_vision::{Detections, Drawing, OverlayBoxes, OverlayMask, Paint};

use super::data::{Elements, image, tensor, ticked};
use super::overlay::{AREA, BOXES, SIZE, drawn, grey, references, unpadded};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("boxes_on_the_device_are_the_same", device_boxes)
        .both("a_mask_is_blended_as_by_opencv", mask)
        .both("numbers_and_sizes_that_do_not_fit_are_errors", refused)
}

fn detections(platform: &Platform, boxes: &[[f32; 4]], count: u32) -> Result<Detections> {
    let most = boxes.len();
    Ok(Detections {
        boxes: tensor(platform, boxes.as_flattened(), &[most, 4])?,
        scores: tensor(platform, &vec![0.0; most], &[most])?,
        indices: tensor(platform, &vec![0; most], &[most])?,
        count: tensor(platform, &[count], &[1])?,
    })
}

fn device_boxes(platform: &Platform) -> Result<(), Failed> {
    let rgb = Random::new(2).bytes(3 * AREA);
    let paint = Paint { colour: [250.0, 100.0, 0.0, 0.0], opacity: 0.25 };
    let mut boxes = BOXES.map(|[[x0, y0], [x1, y1]]| [x1, y0, x0, y1]).to_vec();
    boxes.extend([[f32::NAN, 3.0, 9.0, 9.0], [3.0, 3.0, f32::INFINITY, 9.0], [1.0, 2.0, 3.0, 4.0]]);
    for (count, thickness, kept) in [(6, 1.0, 4), (2, 3.5, 2), (0, 1.0, 0)] {
        let source = image::<Rgb<u8>>(platform, &rgb, SIZE, 5)?;
        let before = platform.default_stream(device(0))?.download_blocking(source.samples())?;
        let overlay = OverlayBoxes::<Rgb<u8>>::new(thickness, paint)?;
        let boxes = detections(platform, &boxes, count)?;
        let (found, sent) = ticked!(platform, overlay, image: source, boxes: boxes => drawn);
        let found = unpadded::<Rgb<u8>>(&sent, &before, &found)?;
        let same = BOXES[..kept].iter().map(|[from, to]| Drawing::Box {
            from: *from,
            to: *to,
            thickness,
            paint,
        });
        check_equal(found, drawn::<Rgb<u8>>(platform, &rgb, SIZE, 0, same.collect())?)?;
    }
    // More boxes than there is room for are those that there are.
    let source = image::<Grey<u8>>(platform, &[0; 9], [3, 3], 0)?;
    let overlay = OverlayBoxes::<Grey<u8>>::new(1.0, grey(5.0))?;
    let boxes = detections(platform, &[[0.0, 0.0, 1.0, 1.0]], 99)?;
    let (found, _) = ticked!(platform, overlay, image: source, boxes: boxes => drawn);
    check_equal(found, vec![5, 5, 0, 5, 5, 0, 0, 0, 0])
}

fn mask(platform: &Platform) -> Result<(), Failed> {
    let size = [37, 23];
    let area = size[0] * size[1];
    let rgb = Random::new(1).bytes(3 * area);
    let mask: Vec<u8> = Random::new(9)
        .bytes(area)
        .into_iter()
        .map(|byte| if byte < 128 { 255 - byte } else { 0 })
        .collect();
    let paint = Paint { colour: [250.0, 10.0, 131.0, 0.0], opacity: 0.4 };
    for padding in [0, 4] {
        let source = image::<Rgb<u8>>(platform, &rgb, size, padding)?;
        let before = platform.default_stream(device(0))?.download_blocking(source.samples())?;
        let overlay = OverlayMask::<Rgb<u8>>::new(paint)?;
        let mask = image::<Grey<u8>>(platform, &mask, size, 3)?;
        let (found, sent) = ticked!(platform, overlay, image: source, mask: mask => drawn);
        let found = unpadded::<Rgb<u8>>(&sent, &before, &found)?;
        // The two round a half in another way, where `0.6 a + 0.4 b` and `a + 0.4 (b - a)` differ.
        references()?.check("mask_drawn", &found, 1.0)?;
        let wanted = references()?.case("mask_drawn")?;
        let off = found.iter().zip(&wanted).filter(|(a, b)| f64::from(**a) != **b).count();
        check(off <= found.len() / 100, || format!("{off} of {} differ", found.len()))?;
    }
    let source = image::<Grey<u8>>(platform, &[], [0, 2], 3)?;
    let mask = image::<Grey<u8>>(platform, &[], [0, 2], 1)?;
    let overlay = OverlayMask::<Grey<u8>>::new(paint)?;
    let (found, _) = ticked!(platform, overlay, image: source, mask: mask => drawn);
    check_equal(found.len(), 6)
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let paint = Paint { opacity: 1.5, ..grey(1.0) };
    let text = |what: &str, result: Result<()>| check_error(what, result, |_| true);
    let of = |thickness, paint| OverlayBoxes::<Grey<u8>>::new(thickness, paint).map(drop);
    check_text(&text("no thickness", of(0.0, grey(1.0)))?, &["`OverlayBoxes`", "of 0"])?;
    check_text(&text("an opacity of 1.5", of(1.0, paint))?, &["`OverlayBoxes`", "1.5"])?;
    let masked = OverlayMask::<Grey<u8>>::new(paint).map(drop);
    check_text(&text("an opacity of 1.5", masked)?, &["`OverlayMask`", "1.5"])?;

    let mut harness = OperatorHarness::new(platform, OverlayMask::<Grey<u8>>::new(grey(1.0))?)?;
    harness.push(|ports| &mut ports.image, image::<Grey<u8>>(platform, &[0; 6], [3, 2], 0)?)?;
    harness.push(|ports| &mut ports.mask, image::<Grey<u8>>(platform, &[0; 6], [2, 3], 0)?)?;
    let text = check_error("another size", harness.tick(), |_| true)?;
    check_text(&text, &["`OverlayMask`", "`image`", "3 × 2", "`mask`", "2 × 3"])?;

    let mut harness =
        OperatorHarness::new(platform, OverlayBoxes::<Grey<u8>>::new(1.0, grey(1.0))?)?;
    harness.push(|ports| &mut ports.image, image::<Grey<u8>>(platform, &[0; 6], [3, 2], 0)?)?;
    let boxes = detections(platform, &[[0.0; 4]], 1)?;
    let flat = Detections { boxes: tensor(platform, &[0.0; 4], &[4])?, ..boxes };
    harness.push(|ports| &mut ports.boxes, flat)?;
    let text = check_error("one dimension", harness.tick(), |_| true)?;
    check_text(&text, &["`OverlayBoxes`", "`boxes`", "[4]", "[n, 4]"])
}
