//! A program of the published packages that uses each of their features. `.ci/run packages` builds and runs it from the tarballs.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_core::Stream as _;
use futures_sink::Sink as _;
use image::{GrayImage, Luma};
use ndarray::arr2;
use streamflow::cudarc::driver::CudaContext;
use streamflow::f16;
use streamflow::memory::dlpack::Abi;
use streamflow::operators::futures::{FromSink, IntoStream};
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_driver::driver::Layer;
use streamflow_math::fft::forward_real;
use streamflow_math::matmul::multiply;
use streamflow_math::random::Philox;
use streamflow_math::solve::solve;
use streamflow_math::sparse::{Csr, spmv};
use streamflow_vision::format::{Grey, Rgb};
use streamflow_vision::{Convert, Image};

/// A layer that changes no call: `streamflow_driver` is of the same version.
#[allow(dead_code)]
fn is_a_layer<L: Layer>() {}

/// Sends random numbers.
#[operator(streams(fill))]
struct Noise {
    #[output]
    values: Tensor<f32>,
    random: Philox<f32>,
}

impl Compute for Noise {
    fn compute(&mut self, io: NoiseIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut values = cx.tensor([4], &stream)?;
        self.random.uniform(&stream, &mut values)?;
        io.values.set_cuda_stream(&stream).emit(values)
    }
}

/// Computes by each library what must be equal to its input.
#[operator]
struct Same {
    #[input]
    values: &Tensor<f32>,
}

impl Compute for Same {
    fn compute(&mut self, io: SameIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (values, stream) = io.values.receive().receive_cuda_stream(cx)?;
        let given: Vec<f32> = cx.download(values, &stream)?.wait_blocking()?.to_vec();

        let twice = cx.upload(&[2.0_f32, 0.0, 0.0, 2.0])?.reshape([2, 2])?;
        let product = multiply(cx, &stream, &twice, &twice)?;
        assert_eq!(*cx.download(&product, &stream)?.wait_blocking()?, [4.0, 0.0, 0.0, 4.0]);

        let side = cx.upload(&[2.0_f32, 6.0])?;
        let solution = solve(cx, &stream, &twice, &side)?.download(&stream)?;
        assert_eq!(*solution.wait_blocking()?, [1.0, 3.0]);

        let ones = Csr::upload(cx, [4, 4], &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &[1.0; 4])?;
        let same = spmv(cx, &stream, &ones, values)?;
        assert_eq!(*cx.download(&same, &stream)?.wait_blocking()?, given[..]);

        let spectrum = forward_real(cx, &stream, values)?;
        let sum = cx.download(&spectrum, &stream)?.wait_blocking()?[0].re;
        assert!(
            (sum - given.iter().sum::<f32>()).abs() < 1e-5,
            "{sum} is not the sum of {given:?}"
        );
        Ok(())
    }
}

graph! {
    /// Random numbers, compared with the right ones.
    struct EveryFeature(count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(count(count))]
        let noise: Noise = Noise::new(Philox::new(7));
        #[streams(STREAMS)]
        let same: Same = Same::new();

        noise.values >> same.values;
    }
}

graph! {
    /// A sink and a stream of asynchronous code.
    struct Echo(from: FromSink<u64>, to: IntoStream<u64>) {
        #[when(condition(from.arrived()))]
        let from: FromSink<u64> = from;
        #[when(condition(to.has_room()))]
        let to: IntoStream<u64> = to;
        from.message >> to.message;
    }
}

/// `futures`: a number goes through a graph.
fn futures(platform: &Platform) -> Result<()> {
    let (from, sink) = FromSink::channel(1)?;
    let (to, stream) = IntoStream::channel(1)?;
    let (mut sink, mut stream) = (pin!(sink), pin!(stream));
    let mut task = Context::from_waker(Waker::noop());
    assert!(sink.as_mut().poll_ready(&mut task)?.is_ready());
    sink.as_mut().start_send(21)?;
    assert!(sink.as_mut().poll_close(&mut task)?.is_pending());
    Echo::new(platform, from, to)?.run()?;
    assert!(matches!(stream.as_mut().poll_next(&mut task), Poll::Ready(Some(Ok(21)))));
    Ok(())
}

/// `ndarray` and `image`: an array and an image go to a device and come back.
fn host_arrays(platform: &Platform) -> Result<()> {
    let stream = platform.default_stream(device(0))?;
    let array = arr2(&[[1.0_f32, 2.0], [3.0, 4.0]]);
    let download = stream.download(&platform.upload_array(&array)?)?;
    assert_eq!(download.array_blocking()?, array.into_dyn());
    let image = GrayImage::from_pixel(2, 3, Luma([7]));
    let download = stream.download(&platform.upload_array(&image)?)?;
    assert_eq!(download.image_blocking::<Luma<u8>>()?.as_raw()[..], image.as_raw()[..]);
    Ok(())
}

/// `streamflow_vision`: a grey image becomes one of RGB.
fn images(platform: &Platform) -> Result<()> {
    let samples = platform.upload(&[0_u8, 255])?.reshape([1, 2])?;
    let grey: Image<Grey<u8>> = Image::new(samples, 2, 1)?;
    let mut convert = OperatorHarness::new(platform, Convert::<Grey<u8>, Rgb<u8>>::new())?;
    convert.push(|ports| &mut ports.image, grey)?;
    assert!(convert.tick()?);
    let sent = convert.take(|ports| &mut ports.converted).expect("it sends in each tick").message;
    assert_eq!(convert.stream().download_blocking(sent.samples())?, [0, 0, 0, 255, 255, 255]);
    Ok(convert.stop()?)
}

/// `cudarc`: where a GPU is, a slice of cudarc becomes a tensor and comes back. The simulator has no device of CUDA.
fn beside_cudarc() -> Result<()> {
    let platform = match Platform::cuda() {
        Ok(platform) => platform,
        Err(error) => return Ok(println!("cudarc has no device: {error}")),
    };
    let theirs = CudaContext::new(0)?.new_stream()?;
    let slice = theirs.clone_htod(&[1.0_f32, 2.0])?;
    let stream = platform.default_stream(device(0))?;
    let slice = platform.adopt_cudarc(slice, [2])?.into_cudarc(&stream, &theirs)?;
    assert_eq!(theirs.clone_dtoh(&*slice)?, [1.0, 2.0]);
    Ok(())
}

fn main() -> Result<()> {
    let platform = Platform::builder().host()?;
    futures(&platform)?;
    host_arrays(&platform)?;
    images(&platform)?;
    beside_cudarc()?;
    let running = EveryFeature::new(&platform, 3)?.spawn()?;
    running.stop_on_signals()?;
    let report = running.join()?;
    assert_eq!(report.ticks("same"), Some(3));
    let half = f16::from_f32(0.5);
    println!("{half} {:?}", Abi::Versioned);
    Ok(())
}
