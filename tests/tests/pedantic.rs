//! The expansion of the macros passes `clippy::pedantic`, and is documented: clippy reads this file as any other.
#![deny(clippy::pedantic, missing_docs)]

use streamflow::prelude::*;
/// Boxes.
#[derive(Message)]
pub struct Boxes {
    /// Image.
    pub image: Tensor<f32>,
    /// Count.
    pub count: u64,
}
/// Fill.
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = gain;", requires(!out.is_empty()), threads(256))]
pub fn fill(out: &mut [f32], gain: f32) {
    out.fill(gain);
}
/// Detects.
#[operator(streams(work))]
pub struct Detect {
    #[output]
    boxes: Boxes,
    #[param(range = 0.0..=1.0)]
    gain: f32,
    names: Vec<String>,
    own: Option<std::sync::Arc<std::sync::Mutex<u8>>>,
}
impl Compute for Detect {
    fn compute(&mut self, io: DetectIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([8], &stream)?;
        stream.launch::<fill>(image.len(), (&mut image, self.gain))?;
        let count = self.names.len() as u64 + u64::from(self.own.is_some());
        io.boxes.set_cuda_stream(&stream).emit(Boxes { image, count })
    }
}
/// Draws.
#[operator]
pub struct Draw<T: Element> {
    #[input]
    boxes: &Boxes,
    #[input(optional)]
    tensor: &Tensor<T>,
}
impl<T: Element> Compute for Draw<T> {
    fn compute(&mut self, io: DrawIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let _ = io.boxes.receive().receive_cuda_stream(cx)?;
        io.tensor.discard();
        Ok(())
    }
}
/// Chooses.
#[operator]
pub struct Choose {
    #[input]
    boxes: &Boxes,
    #[output(branch)]
    few: u64,
    /// Many.
    #[output(branch)]
    many: u64,
}
impl Compute for Choose {
    fn compute(&mut self, io: ChooseIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (boxes, _) = io.boxes.receive().receive_cuda_stream(cx)?;
        match boxes.count {
            count if count < 10 => io.branch.few().emit(count),
            count => io.branch.many().emit(count),
        }
    }
}
graph! {
    /// Chooses.
    pub struct Chosen(least: usize) {
        /// Boxes.
        input boxes: &Boxes;
        /// Few.
        output few: u64;
        #[when(message_available(boxes, least))]
        let choose: Choose = Choose::new();
        boxes >> choose.boxes;
        choose.few >> few;
        choose.many >> _;
    }
}
graph! {
    /// App.
    pub struct App(gain: f32) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();
        #[streams(STREAMS)]
        #[when(count(3), periodic(1ms))]
        let detect: Detect = Detect::new(gain, Vec::new(), None);
        #[worker(screen)]
        #[on_failure(restart(1, 1ms))]
        let draw: Draw<u8> = Draw::new();
        #[capacity(2)]
        detect.boxes >> draw.boxes;
        let choose: Choose = Choose::new();
        detect.boxes >> (choose.boxes, chosen.boxes);
        let chosen: Chosen = Chosen::new(1);
        chosen.few >> _;
        choose.few >> _;
        choose.many >> _;
    }
}
#[test]
fn the_graph_of_the_expansions_runs() -> Result<()> {
    let report = App::new(&Platform::host().build()?, 0.5)?.run()?;
    assert_eq!(report.ticks("draw"), Some(3));
    Ok(())
}
