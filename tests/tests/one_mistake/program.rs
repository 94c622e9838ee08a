//! A camera whose frames are brightened and added up, while a clock counts: the program that `mistakes.rs` edits.
use std::time::Duration;

use streamflow::prelude::*;

#[kernel(
    unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = image[i] * factor;",
    requires(out.len() == image.len())
)]
fn scale(out: &mut [f32], image: &[f32], factor: f32) {
    for (out, image) in out.iter_mut().zip(image) {
        *out = image * factor;
    }
}

#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

#[operator(streams(upload))]
pub struct Camera {
    #[output]
    frame: Tensor<f32>,
    len: usize,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.upload)?;
        let mut frame = cx.tensor([self.len], &stream)?;
        stream.launch::<fill>(self.len, (&mut frame, 1.0))?;
        io.frame.set_cuda_stream(&stream).emit(frame)
    }
}

#[operator]
pub struct Brighten {
    #[input]
    image: &Tensor<f32>,
    #[output]
    bright: Tensor<f32>,
    factor: f32,
}

impl Compute for Brighten {
    fn compute(&mut self, io: BrightenIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor(image.shape(), &stream)?;
        stream.launch::<scale>(out.len(), (&mut out, image, self.factor))?;
        io.bright.emit(out)
    }
}

#[operator]
pub struct Invert {
    #[input]
    image: Tensor<f32>,
    #[output]
    dark: Tensor<f32>,
}

impl Compute for Invert {
    fn compute(&mut self, io: InvertIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor(image.shape(), &stream)?;
        stream.launch::<scale>(out.len(), (&mut out, &image, -1.0))?;
        io.dark.emit(out)
    }
}

#[operator]
pub struct Count {
    #[input]
    before: &u64,
    #[output]
    number: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.emit(io.before.receive().into_data() + 1)
    }
}

#[operator]
pub struct Pass<T: Element> {
    #[input]
    taken: Shared<Tensor<T>>,
    #[output]
    given: Shared<Tensor<T>>,
}

impl<T: Element> Compute for Pass<T> {
    fn compute(&mut self, io: PassIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.taken.receive().receive_cuda_stream(cx)?;
        io.given.emit(image)
    }
}

#[operator]
pub struct Show {
    #[input]
    image: &Tensor<f32>,
    #[input(optional)]
    number: &u64,
    seen: Vec<f32>,
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        self.seen.extend(cx.download(image, &stream)?.wait_blocking()?.first());
        let _ = io.number.receive();
        Ok(())
    }
}

graph! {
    /// Frames, brightened.
    pub struct App(len: usize, ticks: u64) {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(4);
        let DEPLOYED = CudaStreamPool::new().max_size(8);

        #[streams(GPU)]
        #[when(count(ticks))]
        let camera: Camera = Camera::new(len);
        #[streams(GPU)]
        #[on_failure(skip)]
        let brighten: Brighten = Brighten::new(2.0);
        #[streams(DEPLOYED)]
        let invert: Invert = Invert::new();
        #[worker(clock)]
        #[when(periodic(1ms, skip))]
        let count: Count = Count::new();
        let pass: Pass<f32> = Pass::new();
        #[when(message_available(image, 1))]
        let show: Show = Show::new(Vec::new());

        camera.frame >> brighten.image;
        #[copy]
        camera.frame >> invert.image;
        brighten.bright >> show.image;
        invert.dark >> pass.taken;
        pass.given >> _;
        #[feedback(initial = 0)]
        count.number >> count.before;
        #[capacity(2)]
        #[policy(pop)]
        count.number >> show.number;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?, 16, 3)?;
    app.workers(2)?;
    let running = app.spawn()?;
    std::thread::sleep(Duration::from_millis(10));
    let (app, report) = running.join_with_graph()?;
    println!("{:?} {}", app.show().seen, report?);
    Ok(())
}
