//! The device's time of image operators on frames of 3840 × 2160 pixels.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench images
//! ```
//!
//! A round queues 20 ticks of an operator, each with an image of its own, behind a kernel that lets the device wait, so that the host
//! is ahead. The time is that between two events of the stream. A line has the median of 7 rounds as time and as bytes of memory that
//! the work needs by second, and the same for copies of as many bytes. `chain` is five operators one after the other beside one kernel
//! by hand for the same work.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::process::ExitCode;

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::random::Random;
use streamflow_vision::format::{Bayer, Format, Grey, Nv12, P010, Rgb, Rgba, Yuyv};
use streamflow_vision::{
    Blur, Colour, Convert, Crop, Equalize, Image, Interpolation, IntoTensor, Lut, Morphology,
    Resize, Warp,
};

const TICKS: usize = 20;
const ROUNDS: usize = 7;
const SIZE: [usize; 2] = [3840, 2160];

/// Keeps the device busy while the host queues the work behind it.
#[kernel(partial, unsafe cuda = "
    const long long begin = clock64();
    while (clock64() - begin < cycles) {}
    if (thread_index() < out_len) out[thread_index()] = 1.0f;
")]
#[allow(unused_variables, reason = "the simulator does not wait")]
fn hold(out: &mut [f32], cycles: i64) {
    out.fill(1.0);
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the median of microseconds a tick.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn frame<F: Format>(
    platform: &Platform,
    stream: &CudaStream,
    noise: &Tensor<F::Sample>,
    size: [usize; 2],
) -> Result<Image<F>> {
    let mut samples = platform.tensor(noise.shape(), stream)?;
    stream.copy(noise, &mut samples)?;
    Image::new(samples, size[0], size[1])
}

/// A message whose last write a stream can wait for.
trait Written {
    /// Lets the stream copy an element, which waits for the work that wrote it.
    fn wait_for(&self, stream: &CudaStream) -> Result<()>;
}

impl<T: Element> Written for Tensor<T> {
    fn wait_for(&self, stream: &CudaStream) -> Result<()> {
        let one = self.slice(..1).ok_or_else(|| Failure::msg("no element"))?;
        drop(stream.download::<T>(&one)?);
        Ok(())
    }
}

impl<F: Format> Written for Image<F> {
    fn wait_for(&self, stream: &CudaStream) -> Result<()> {
        self.samples().wait_for(stream)
    }
}

/// The time of copies that read and write as many bytes in all.
fn copies(platform: &Platform, stream: &CudaStream, bytes: usize) -> Result<f64> {
    let mut held = platform.buffer::<f32>(1, stream)?;
    let make = || platform.tensor::<u8>([bytes / 2], stream);
    let sources: Vec<_> = (0..TICKS).map(|_| make()).collect::<std::result::Result<_, _>>()?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        stream.synchronize_blocking()?;
        stream.launch::<hold>(1, (&mut held, 3_000_000))?;
        let begin = stream.record_timing()?;
        for source in &sources {
            let mut target = make()?;
            stream.copy(source, &mut target)?;
        }
        let end = stream.record_timing()?;
        times.push(begin.elapsed_blocking(&end)?.duration().as_secs_f64() * 1e6 / TICKS as f64);
    }
    Ok(median(times))
}

macro_rules! timed {
    ($platform:expr, $name:expr, $format:ty, $rows:expr, $row:expr, $operator:expr, $output:ident, $bytes_out:expr) => {{
        let mut harness = OperatorHarness::new($platform, $operator)?;
        let mut noise = Random::new(7);
        let samples: Vec<_> = noise.bytes($rows * $row).into_iter().map(From::from).collect();
        let noise: Tensor<<$format as Format>::Sample> =
            $platform.upload(&samples)?.reshape([$rows, $row])?;
        let bytes = $rows * $row * size_of::<<$format as Format>::Sample>() + $bytes_out;
        let mut times = Vec::new();
        for _ in 0..=ROUNDS {
            let stream = harness.stream();
            let mut images: Vec<Image<$format>> = (0..TICKS)
                .map(|_| frame($platform, stream, &noise, SIZE))
                .collect::<Result<_>>()?;
            let mut held = $platform.buffer::<f32>(1, stream)?;
            stream.synchronize_blocking()?;
            stream.launch::<hold>(1, (&mut held, 6_000_000))?;
            // The first tick waits for this copy, and the others for the first one.
            images[0] = frame($platform, stream, &noise, SIZE)?;
            let begin = stream.record_timing()?;
            let mut last = None;
            for image in images {
                harness.push(|ports| &mut ports.image, image)?;
                if !harness.tick()? {
                    return Err(Failure::msg("no tick"));
                }
                last = harness.take(|ports| &mut ports.$output);
            }
            let last = last.ok_or_else(|| Failure::msg("nothing was sent"))?;
            last.message.wait_for(harness.stream())?;
            let end = harness.stream().record_timing()?;
            times.push(begin.elapsed_blocking(&end)?.duration().as_secs_f64() * 1e6 / TICKS as f64);
        }
        // The first round compiles.
        let own = median(times.split_off(1));
        let copy = copies($platform, harness.stream(), bytes)?;
        let rate = |time: f64| bytes as f64 / time / 1e3;
        println!(
            "{:<34} {own:>8.2} µs {:>7.0} GB/s   copy {copy:>7.2} µs {:>7.0} GB/s   ratio {:.2}",
            $name,
            rate(own),
            rate(copy),
            copy / own
        );
    }};
}

fn measure() -> Result<()> {
    let platform = Platform::detect()?;
    let p = &platform;
    let [w, h] = SIZE;
    let area = w * h;
    timed!(
        p,
        "Convert NV12 to RGB",
        Nv12,
        h * 3 / 2,
        w,
        Convert::<Nv12, Rgb<u8>>::new(),
        converted,
        3 * area
    );
    timed!(
        p,
        "Convert NV12 to RGBA",
        Nv12,
        h * 3 / 2,
        w,
        Convert::<Nv12, Rgba<u8>>::new(),
        converted,
        4 * area
    );
    timed!(
        p,
        "Convert NV12 to RGB f32",
        Nv12,
        h * 3 / 2,
        w,
        Convert::<Nv12, Rgb<f32>>::new(),
        converted,
        12 * area
    );
    timed!(
        p,
        "Convert YUYV to RGB",
        Yuyv,
        h,
        2 * w,
        Convert::<Yuyv, Rgb<u8>>::new(),
        converted,
        3 * area
    );
    timed!(
        p,
        "Convert P010 to RGB",
        P010,
        h * 3 / 2,
        w,
        Convert::<P010, Rgb<u8>>::new(),
        converted,
        3 * area
    );
    timed!(
        p,
        "Convert RGB to NV12",
        Rgb<u8>,
        h,
        3 * w,
        Convert::<Rgb<u8>, Nv12>::new(),
        converted,
        area * 3 / 2
    );
    timed!(
        p,
        "Convert RGB to grey",
        Rgb<u8>,
        h,
        3 * w,
        Convert::<Rgb<u8>, Grey<u8>>::new(),
        converted,
        area
    );
    timed!(
        p,
        "Convert RGB to RGBA",
        Rgb<u8>,
        h,
        3 * w,
        Convert::<Rgb<u8>, Rgba<u8>>::new(),
        converted,
        4 * area
    );
    timed!(
        p,
        "Convert RGB to RGB f32",
        Rgb<u8>,
        h,
        3 * w,
        Convert::<Rgb<u8>, Rgb<f32>>::new(),
        converted,
        12 * area
    );
    timed!(
        p,
        "Convert Bayer to RGB",
        Bayer<u8>,
        h,
        w,
        Convert::<Bayer<u8>, Rgb<u8>>::new(),
        converted,
        3 * area
    );
    let half = [w / 2, h / 2];
    for (name, kind) in [
        ("nearest", Interpolation::Nearest),
        ("linear", Interpolation::Linear),
        ("cubic", Interpolation::Cubic),
    ] {
        let to_half = Resize::<Rgb<u8>>::new(half[0], half[1], kind)?;
        timed!(
            p,
            format!("Resize RGB to a half, {name}"),
            Rgb<u8>,
            h,
            3 * w,
            to_half,
            resized,
            3 * area / 4
        );
    }
    let larger = Resize::<Rgb<u8>>::new(w * 3 / 2, h * 3 / 2, Interpolation::Linear)?;
    timed!(p, "Resize RGB to 3/2, linear", Rgb<u8>, h, 3 * w, larger, resized, 3 * area * 9 / 4);
    let to_half = Resize::<Rgb<u8>>::area(half[0], half[1])?;
    timed!(p, "Resize RGB to a half, area", Rgb<u8>, h, 3 * w, to_half, resized, 3 * area / 4);
    let to_half = Resize::<Rgb<f32>>::new(half[0], half[1], Interpolation::Linear)?;
    timed!(p, "Resize RGB f32 to a half, linear", Rgb<f32>, h, 3 * w, to_half, resized, 3 * area);
    timed!(
        p,
        "Crop RGB to a quarter",
        Rgb<u8>,
        h,
        3 * w,
        Crop::<Rgb<u8>>::new([9, 9], half),
        cropped,
        0
    );
    timed!(
        p,
        "Lut RGB",
        Rgb<u8>,
        h,
        3 * w,
        Lut::<Rgb<u8>>::new((0..=255).rev().collect::<Vec<_>>())?,
        replaced,
        3 * area
    );
    timed!(
        p,
        "IntoTensor RGB, planar",
        Rgb<u8>,
        h,
        3 * w,
        IntoTensor::<Rgb<u8>>::planar(),
        tensor,
        12 * area
    );
    timed!(
        p,
        "Warp RGB, affine",
        Rgb<u8>,
        h,
        3 * w,
        Warp::<Rgb<u8>>::affine([[0.9, 0.1, 5.0], [-0.1, 0.9, 7.0]], SIZE)?,
        warped,
        3 * area
    );
    timed!(
        p,
        "Blur RGB, 7 × 7",
        Rgb<u8>,
        h,
        3 * w,
        Blur::<Rgb<u8>>::gaussian_of(1.5, 7)?,
        blurred,
        3 * area
    );
    timed!(
        p,
        "Morphology grey, 3 × 3",
        Grey<u8>,
        h,
        w,
        Morphology::<Grey<u8>>::erode(3, 3)?,
        changed,
        area
    );
    timed!(p, "Equalize grey", Grey<u8>, h, w, Equalize::new(), equalized, area);
    chain(p)
}

/// NV12 to RGB, half of the size, a part of it, a table, and a planar tensor, in one kernel.
#[kernel(partial, requires(image.len() == 3 * width * height / 2, table.len() == 256, out.len() == 3 * columns * rows), unsafe cuda = "
    const unsigned long long n = thread_index();
    if (n >= columns * rows) return;
    const unsigned long long x = 2 * (n % columns + left), y = 2 * (n / columns + top);
    const unsigned char* uv = image + width * height + y / 2 * width + x;
    const float u = (uv[0] - 128.0f) * 0.00456621f, v = (uv[1] - 128.0f) * 0.00456621f;
    const float red = 1.402f * v * 0.978f, green = (-0.344136f * u - 0.714136f * v) * 0.978f, blue = 1.772f * u * 0.978f;
    float sum[3] = {0.0f, 0.0f, 0.0f};
    for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 2; ++i) {
            const float luma = (image[(y + j) * width + x + i] - 16.0f) * 0.00456621f;
            sum[0] += rintf(255.0f * fminf(fmaxf(luma + red, 0.0f), 1.0f));
            sum[1] += rintf(255.0f * fminf(fmaxf(luma + green, 0.0f), 1.0f));
            sum[2] += rintf(255.0f * fminf(fmaxf(luma + blue, 0.0f), 1.0f));
        }
    }
    for (int c = 0; c < 3; ++c) out[c * columns * rows + n] = table[(int)roundf(sum[c] * 0.25f)] * 0.003921569f;
")]
#[allow(
    clippy::too_many_arguments,
    unused_variables,
    reason = "the time of the body for a GPU is measured"
)]
fn by_hand(
    out: &mut [f32],
    image: &[u8],
    table: &[u8],
    width: usize,
    height: usize,
    left: usize,
    top: usize,
    columns: usize,
    rows: usize,
) {
    out.fill(0.0);
}

graph! {
    /// Five operators one after the other.
    struct Chain(ticks: u64) {
        #[when(count(ticks))]
        let frames: Frames = Frames::new(None);
        let convert: Convert<Nv12, Rgb<u8>> = Convert::new();
        let resize: Resize<Rgb<u8>> = Resize::new(1920, 1080, Interpolation::Linear)?;
        let crop: Crop<Rgb<u8>> = Crop::new([8, 8], [1904, 1064]);
        let lut: Lut<Rgb<u8>> = Lut::new((0..=255).rev().collect::<Vec<_>>())?;
        let tensor: IntoTensor<Rgb<u8>> = IntoTensor::planar();
        frames.image >> convert.image;
        convert.converted >> resize.image;
        resize.resized >> crop.image;
        crop.cropped >> lut.image;
        lut.replaced >> tensor.image;
        tensor.tensor >> _;
    }
}

/// Sends the same frame of noise, as a copy, in each tick.
#[operator(streams(copy))]
struct Frames {
    #[output]
    image: Image<Nv12>,
    noise: Option<Tensor<u8>>,
}

impl Compute for Frames {
    fn compute(&mut self, io: FramesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.copy)?;
        if self.noise.is_none() {
            self.noise =
                Some(cx.upload(&Random::new(7).bytes(3840 * 3240))?.reshape([3240, 3840])?);
        }
        let mut samples = cx.tensor([3240, 3840], &stream)?;
        if let Some(noise) = &self.noise {
            stream.copy(noise, &mut samples)?;
        }
        io.image
            .set_cuda_stream(&stream)
            .emit(Image::new(samples, 3840, 2160)?.with_colour(Colour::default()))
    }
}

fn chain(platform: &Platform) -> Result<()> {
    let stream = platform.default_stream(device(0))?;
    let ticks = 300;
    let mut graph = Chain::new(platform, ticks)?;
    let mut of_graph = Vec::new();
    for _ in 0..=ROUNDS {
        let begin = std::time::Instant::now();
        graph.run()?;
        of_graph.push(begin.elapsed().as_secs_f64() * 1e6 / ticks as f64);
    }
    let noise = platform.upload(&Random::new(7).bytes(3840 * 3240))?;
    let table = platform.upload(&(0..=255).rev().collect::<Vec<u8>>())?;
    let mut of_hand = Vec::new();
    for _ in 0..=ROUNDS {
        stream.synchronize_blocking()?;
        let begin = std::time::Instant::now();
        for _ in 0..ticks {
            let mut samples = platform.tensor::<u8>([3840 * 3240], &stream)?;
            stream.copy(&noise, &mut samples)?;
            let mut out = platform.tensor::<f32>([3, 1064, 1904], &stream)?;
            stream.launch::<by_hand>(
                1904 * 1064,
                (&mut out, &samples, &table, 3840, 2160, 8, 8, 1904, 1064),
            )?;
        }
        stream.synchronize_blocking()?;
        of_hand.push(begin.elapsed().as_secs_f64() * 1e6 / ticks as f64);
    }
    let (own, hand) = (median(of_graph.split_off(1)), median(of_hand.split_off(1)));
    println!(
        "chain of five operators, with a copy {own:>8.2} µs   one kernel by hand, with that copy {hand:>8.2} µs   ratio {:.2}",
        own / hand
    );
    Ok(())
}
