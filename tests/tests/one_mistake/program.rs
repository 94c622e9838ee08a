//! The right program that `mistakes.rs` edits: a camera, whose frames are brightened and added up while a clock
//! counts.
use std::sync::Arc;
use std::time::Duration;

use streamflow_math::random::Philox;
use streamflow::port::Out;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;

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

#[derive(Message)]
pub struct Detections {
    scores: Tensor<f32>,
    labels: HostData<Vec<u64>>,
}

#[derive(Message)]
pub struct Summary {
    frames: u64,
}

/// An operator that prints a text. All messages with that text share one copy of it.
#[operator]
pub struct Label {
    #[input]
    text: &HostData<Option<Arc<str>>>,
}

impl Compute for Label {
    fn compute(&mut self, io: LabelIo<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{:?}", io.text.receive().into_data().0);
        Ok(())
    }
}

/// A source of random scores with labels.
#[operator(streams(fill))]
pub struct Detect {
    #[output]
    found: Detections,
    random: Philox,
}

impl Compute for Detect {
    fn compute(&mut self, io: DetectIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut scores = cx.tensor([16], &stream)?;
        self.random.uniform(&stream, &mut scores)?;
        let labels = HostData(vec![1, 2]);
        io.found.set_cuda_stream(&stream).emit(Detections { scores, labels })
    }
}

/// An operator that counts its messages, and sends the number when all of them have come.
#[operator(flush)]
pub struct Collect {
    #[input]
    found: &Detections,
    #[output]
    summary: Summary,
    #[param(range = 1..=9)]
    step: u64,
    #[state]
    frames: u64,
}

impl Compute for Collect {
    fn compute(&mut self, io: CollectIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (found, stream) = io.found.receive().receive_cuda_stream(cx)?;
        cx.download(&found.scores, &stream)?.wait_blocking()?;
        self.frames += self.step;
        Ok(())
    }
}

impl Flush for Collect {
    fn flush(&mut self, io: CollectFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.summary.emit(Summary { frames: self.frames })?;
        Ok(Flushed::Done)
    }
}

#[operator]
pub struct Report {
    #[input]
    summary: &Summary,
    #[output]
    text: Summary,
}

impl Compute for Report {
    fn compute(&mut self, io: ReportIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frames = io.summary.receive().into_data().frames;
        send(io.text, frames)
    }
}

fn send(out: Out<'_, Summary>, frames: u64) -> Result<()> {
    out.emit(Summary { frames })
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

graph! {
    /// A graph that counts random detections.
    pub struct Noise(seed: u64) {
        const NOISE: CudaStreamPool = CudaStreamPool::new();

        #[streams(NOISE)]
        #[when(count(3))]
        let detect: Detect = Detect::new(Philox::new(seed));
        #[streams(NOISE)]
        let collect: Collect = Collect::new(1);
        let report: Report = Report::new();

        detect.found >> collect.found;
        collect.summary >> report.summary;
        report.text >> _;
    }
}

/// Checks in a harness, without a graph, that the counter counts to four.
fn check_count(platform: &Platform) -> Result<()> {
    let mut harness = OperatorHarness::new(platform, Count::new())?;
    harness.push(|ports| &mut ports.before, 3)?;
    harness.tick()?;
    let counted = harness.take(|ports| &mut ports.number);
    println!("{:?}", counted.map(|counted| *counted.message));
    harness.stop()?;
    Ok(())
}

fn noise(platform: &Platform) -> Result<()> {
    let mut noise = Noise::new(platform, 7)?;
    let params = noise.params();
    params.collect().set_step(2)?;
    let report = noise.run_for(Duration::from_secs(1))?;
    println!("{} {report}", params.collect().step());
    Ok(())
}

fn main() -> Result<()> {
    check_count(&Platform::detect()?)?;
    noise(&Platform::detect()?)?;
    let mut app = App::new(&Platform::detect()?, 16, 3)?;
    app.workers(2)?;
    let running = app.spawn()?;
    std::thread::sleep(Duration::from_millis(10));
    let (app, report) = running.join_with_graph()?;
    println!("{:?} {}", app.show().seen, report?);
    Ok(())
}
