//! The ways between images and tensors, and a pipeline of image operators under seeds.

use std::sync::mpsc::{Sender, channel};

use streamflow::operators::{self, Deliver, Upload};
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check_close, check_equal, check_error, check_text};
use streamflow_vision::format::{Grey, Nv12, Rgb};
use streamflow_vision::{
    Blur, Colour, Convert, FromPlanes, FromTensor, Interpolation, IntoTensor, Matrix, Resize,
};

use super::data::{Elements, image, tensor, ticked};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("tensors_of_images_are_planar_or_interleaved", into_tensors)
        .both("images_of_tensors_keep_the_memory", from_tensors)
        .both("a_pipeline_of_frames_is_the_same_in_every_tick", pipeline)
        .both("tensors_of_another_shape_are_errors", refused)
}

const SIZE: [usize; 2] = [7, 5];

fn into_tensors(platform: &Platform) -> Result<(), Failed> {
    let samples = Random::new(1).bytes(3 * 35);
    let (mean, deviation) = ([0.5, 0.25, 0.125], [0.5, 2.0, 0.25]);
    let number = |x: usize, y: usize, channel: usize| {
        let sample = f64::from(samples[(y * SIZE[0] + x) * 3 + channel]) / 255.0;
        (sample - f64::from(mean[channel])) / f64::from(deviation[channel])
    };
    let source = || image::<Rgb<u8>>(platform, &samples, SIZE, 2);
    let planar = IntoTensor::planar().normalize(&mean, &deviation)?;
    let (found, sent) = ticked!(platform, planar, image: source()? => tensor);
    check_equal(sent.shape(), &[3, 5, 7][..])?;
    let wanted: Vec<f64> = (0..105).map(|i| number(i % 7, i / 7 % 5, i / 35)).collect();
    check_close(&found, &wanted, |_| 1e-6)?;
    let interleaved = IntoTensor::interleaved().normalize(&mean, &deviation)?;
    let (found, sent) = ticked!(platform, interleaved, image: source()? => tensor);
    check_equal(sent.shape(), &[5, 7, 3][..])?;
    let wanted: Vec<f64> = (0..105).map(|i| number(i / 3 % 7, i / 21, i % 3)).collect();
    check_close(&found, &wanted, |_| 1e-6)
}

fn from_tensors(platform: &Platform) -> Result<(), Failed> {
    let samples = Random::new(1).bytes(3 * 35);
    let colour = Colour { matrix: Matrix::Bt709, ..Colour::default() };
    let dense = tensor(platform, &samples, &[5, 7, 3])?;
    let (found, sent) =
        ticked!(platform, FromTensor::<Rgb<u8>>::new(SIZE, colour), tensor: dense => image);
    check_equal((found, sent.pitch(), sent.colour()), (samples.clone(), 21, colour))?;
    let dense = image::<Rgb<u8>>(platform, &samples, SIZE, 0)?;
    check_equal(dense.into_tensor()?.shape(), &[5, 7, 3][..])?;
    let planes: Vec<u8> = (0..105).map(|i| samples[i % 35 * 3 + i / 35]).collect();
    let planes = tensor(platform, &planes, &[3, 5, 7])?;
    let (found, _) = ticked!(platform, FromPlanes::<Rgb<u8>>::new(), tensor: planes => image);
    check_equal(found, samples)
}

graph! {
    struct Pipeline(ticks: u64, seen: Sender<Vec<f32>>) {
        #[when(count(ticks))]
        let frames: Frames = Frames::new();
        let upload: Upload<u8> = Upload::with_shape([12, 16])?;
        let image: FromTensor<Nv12> = FromTensor::new([16, 8], Colour::default());
        let convert: Convert<Nv12, Rgb<u8>> = Convert::new();
        let resize: Resize<Rgb<u8>> = Resize::new(10, 6, Interpolation::Linear)?;
        let grey: Convert<Rgb<u8>, Grey<u8>> = Convert::new();
        let blur: Blur<Grey<u8>> = Blur::mean(3, 3)?;
        let tensor: IntoTensor<Grey<u8>> = IntoTensor::planar();
        let download: operators::Download<f32> = operators::Download::new();
        #[when(host_done(message))]
        let deliver: Deliver<Download<f32>> = Deliver::new(move |row: &Download<f32>| Ok(seen.send(row.wait_blocking()?.to_vec())?));
        frames.frame >> upload.data;
        upload.tensor >> image.tensor;
        image.image >> convert.image;
        convert.converted >> resize.image;
        resize.resized >> grey.image;
        grey.converted >> blur.image;
        blur.blurred >> tensor.image;
        tensor.tensor >> download.tensor;
        #[capacity(2)]
        download.data >> deliver.message;
    }
}

/// Sends frames of noise.
#[operator]
struct Frames {
    #[output]
    frame: HostData<Vec<u8>>,
}

impl Compute for Frames {
    fn compute(&mut self, io: FramesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.emit(HostData(Random::new(cx.tick() % 2).bytes(12 * 16)))
    }
}

fn pipeline(platform: &Platform) -> Result<(), Failed> {
    let (send, seen) = channel();
    Pipeline::new(platform, 8, send)?.run()?;
    let all: Vec<Vec<f32>> = seen.try_iter().collect();
    check_equal(all.len(), 8)?;
    // The same by operators one after another.
    for (tick, found) in all.into_iter().enumerate() {
        let frame = Random::new(tick as u64 % 2).bytes(12 * 16);
        let source = image::<Nv12>(platform, &frame, [16, 8], 0)?;
        let (rgb, _) =
            ticked!(platform, Convert::<Nv12, Rgb<u8>>::new(), image: source => converted);
        let source = image::<Rgb<u8>>(platform, &rgb, [16, 8], 0)?;
        let resize = Resize::new(10, 6, Interpolation::Linear)?;
        let (small, _) = ticked!(platform, resize, image: source => resized);
        let source = image::<Rgb<u8>>(platform, &small, [10, 6], 0)?;
        let (grey, _) =
            ticked!(platform, Convert::<Rgb<u8>, Grey<u8>>::new(), image: source => converted);
        let source = image::<Grey<u8>>(platform, &grey, [10, 6], 0)?;
        let (soft, _) = ticked!(platform, Blur::mean(3, 3)?, image: source => blurred);
        let source = image::<Grey<u8>>(platform, &soft, [10, 6], 0)?;
        let (wanted, _) = ticked!(platform, IntoTensor::planar(), image: source => tensor);
        check_equal(found, wanted)?;
    }
    Ok(())
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let mut harness =
        OperatorHarness::new(platform, FromTensor::<Nv12>::new([6, 4], Colour::default()))?;
    harness.push(|ports| &mut ports.tensor, tensor(platform, &[0; 30], &[5, 6])?)?;
    let text = check_error("another number of rows", harness.tick(), |_| true)?;
    check_text(&text, &["`FromTensor`", "`tensor`", "NV12", "6 × 4", "6 rows", "[5, 6]"])?;
    let mut harness = OperatorHarness::new(platform, FromPlanes::<Rgb<u8>>::new())?;
    harness.push(|ports| &mut ports.tensor, tensor(platform, &[0; 24], &[4, 3, 2])?)?;
    let text = check_error("four channels", harness.tick(), |_| true)?;
    check_text(&text, &["`FromPlanes`", "`tensor`", "[4, 3, 2]", "[3, height, width]"])?;
    let made = IntoTensor::<Rgb<u8>>::planar().normalize(&[0.5], &[0.5]);
    let text = check_error("one mean of three", made, |_| true)?;
    check_text(&text, &["`IntoTensor`", "[0.5]", "3 channels"])?;
    let padded = image::<Rgb<u8>>(platform, &[0; 12], [2, 2], 1)?;
    check_text(&check_error("padding", padded.into_tensor(), |_| true)?, &["pitch of 7", "of 6"])
}
