//! A filter over time, which mixes each frame with the mean of the last few frames.
//!
//! The example is small, and its `Average` combines four difficult cases: it keeps messages for later ticks, writes a message in
//! place, works on two streams, and has an input that rarely gets a message.

mod history;
mod kernels;
mod reference;

use std::fmt;

pub use history::History;
pub use kernels::{accumulate, fade, pattern, pattern_on_host, share};
pub use reference::{TOLERANCE, reference, weight_of};
use streamflow::prelude::*;

/// The maximum number of frames in the mean.
pub const FRAMES: usize = 4;

/// Emits frames and their numbers.
#[operator(streams(shoot))]
#[derive(Debug)]
pub struct Camera {
    /// The frame.
    #[output]
    frame: Tensor<f32>,
    /// The number of the frame, from 0.
    #[output]
    number: u64,
    rows: usize,
    cols: usize,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.shoot)?;
        let mut frame = cx.tensor([self.rows, self.cols], &stream)?;
        stream.map::<pattern>((&mut frame, cx.tick() as u32))?;
        io.frame.set_cuda_stream(&stream).emit(frame)?;
        io.number.emit(cx.tick())
    }
}

/// Sends a new weight with some of the frames.
#[operator]
#[derive(Debug)]
pub struct Control {
    /// The number of a frame.
    #[input]
    number: u64,
    /// The weight of the mean, which holds from that frame on.
    #[output]
    weight: f32,
}

impl Compute for Control {
    fn compute(&mut self, io: ControlIo<'_>, _: &ExecutionContext) -> Result<()> {
        match weight_of(io.number.receive().into_data()) {
            Some(weight) => io.weight.emit(weight),
            None => Ok(()),
        }
    }
}

/// A frame after the filter.
#[derive(Debug, Message)]
pub struct Filtered {
    /// The frame.
    pub image: Tensor<f32>,
    /// The weight of the mean in this frame.
    pub weight: f32,
}

/// Mixes each frame with the mean of the last few frames.
#[operator(streams(side), no_new)]
#[derive(Debug)]
pub struct Average {
    /// The frame. The operator keeps it for the means of later ticks.
    #[input]
    frame: Shared<Tensor<f32>>,
    /// A copy of the frame that becomes the result.
    #[input]
    canvas: Tensor<f32>,
    /// A new weight for the mean. It holds from this frame on.
    #[input(optional)]
    weight: f32,
    /// The result.
    #[output]
    filtered: Filtered,
    frames: History<Shared<Tensor<f32>>, FRAMES>,
    current: f32,
}

impl Average {
    /// Creates an operator with the weight 0, with which the filter does not change the frames.
    pub fn new() -> Self {
        Self { frames: History::new(), current: 0.0 }
    }
}

impl Default for Average {
    fn default() -> Self {
        Self::new()
    }
}

impl Compute for Average {
    fn start(&mut self, _: AverageStreams<'_>, _: &ExecutionContext) -> Result<()> {
        *self = Self::new();
        Ok(())
    }

    fn compute(&mut self, io: AverageIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (frame, stream) = io.frame.receive().receive_cuda_stream(cx)?;
        let (mut canvas, _) = io.canvas.receive().receive_cuda_stream(cx)?;
        self.current = io.weight.receive().into_data().unwrap_or(self.current);
        self.frames.push(frame);

        // The mean is computed on `side` while the canvas fades on `stream`. The code contains no waits: the last launch reads
        // data of both streams, so streamflow orders the launch after both.
        let side = cx.allocate_cuda_stream(io.side)?;
        let mut mean = cx.tensor(canvas.shape(), &side)?;
        let part = 1.0 / self.frames.len() as f32;
        for (age, frame) in self.frames.iter().enumerate() {
            if age == 0 {
                side.launch::<share>(mean.len(), (&mut mean, frame, part))?;
            } else {
                side.map::<accumulate>((&mut mean, frame, part))?;
            }
        }
        stream.map::<fade>((&mut canvas, 1.0 - self.current))?;
        stream.map::<accumulate>((&mut canvas, &mean, self.current))?;
        io.filtered.emit(Filtered { image: canvas, weight: self.current })
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.frames = History::new();
        Ok(())
    }
}

/// A callback that is called for each filtered frame, with the tick's number, counted from 0, the weight, and the frame's values.
pub type ReportFrame = Box<dyn FnMut(u64, f32, &[f32]) -> Result<()> + Send>;

/// Downloads each frame and reports it one tick later, like [`Deliver`](crate::deliver::Deliver).
#[operator(no_new)]
pub struct Show {
    /// The frame.
    #[input]
    filtered: &Filtered,
    report: ReportFrame,
    before: Option<(u64, f32, Download<f32>)>,
}

impl Show {
    /// Calls `report` for each frame.
    pub fn new(report: ReportFrame) -> Self {
        Self { report, before: None }
    }
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (filtered, stream) = io.filtered.receive().receive_cuda_stream(cx)?;
        let download = cx.download(&filtered.image, &stream)?;
        match self.before.replace((cx.tick(), filtered.weight, download)) {
            Some((tick, weight, before)) => (self.report)(tick, weight, before.wait_blocking()?),
            None => Ok(()),
        }
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        match self.before.take() {
            Some((tick, weight, last)) => (self.report)(tick, weight, last.wait_blocking()?),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Show {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Show").field("before", &self.before).finish_non_exhaustive()
    }
}

graph! {
    /// Filters `count` frames over time. `report` gets each of them.
    #[derive(Debug)]
    pub struct TemporalFilter(rows: usize, cols: usize, count: u64, report: ReportFrame) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);

        #[streams(STREAMS)] #[when(count(count))]
        let camera: Camera = Camera::new(rows, cols);
        let control: Control = Control::new();
        #[streams(STREAMS)]
        let average: Average = Average::new();
        #[streams(STREAMS)]
        let show: Show = Show::new(report);

        camera.frame >> average.frame;
        #[copy]
        camera.frame >> average.canvas;
        camera.number >> control.number;
        // With workers, the average may run before the control has sent a new weight. A late weight never holds up the camera.
        #[policy(pop)]
        control.weight >> average.weight;
        average.filtered >> show.filtered;
    }
}
