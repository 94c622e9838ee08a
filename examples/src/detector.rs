//! A detector of bright discs: a matched filter finds them in frames of video, and each frame shows their boxes.
//!
//! All work between the upload of a frame and the download of its picture and boxes is on the device.

use streamflow::operators::{Convolve2d, Upload};
use streamflow::prelude::*;
use streamflow_vision::format::{Grey, Nv12, Rgb};
use streamflow_vision::{
    Colour, Convert, Detections, FromTensor, Image, IntoTensor, NonMaxSuppression, OverlayBoxes,
    Paint, Resize,
};

mod kernels;
mod scene;

pub use kernels::{edges, peaks};
pub use scene::{check, frame, overlap, truth};

/// The number of pixels of a row of a frame.
pub const WIDTH: usize = 160;

/// The number of rows of a frame.
pub const HEIGHT: usize = 120;

/// The radius of the discs in pixels.
pub const RADIUS: usize = 9;

/// The contrast between a disc and what is around it, as a part of full brightness, with which each disc is found and nothing else.
pub const THRESHOLD: f32 = 0.3;

/// The most boxes of a frame.
const MOST: usize = 16;

/// The number of rows and columns of the matched filter. It works on images of half of the size.
const SIDE: usize = 13;

/// A callback for each frame: its number, its picture in RGB, and the boxes and the scores that were found.
pub type Report = Box<dyn FnMut(u64, &[u8], &[[f32; 4]], &[f32]) -> Result<()> + Send>;

/// Sends frames in NV12.
#[operator]
pub struct Camera {
    /// The luma of a frame, and its chroma below.
    #[output]
    frame: HostData<Vec<u8>>,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.emit(HostData(frame(cx.tick())))
    }
}

/// Returns weights that give the mean of a disc less that of the ring around it.
pub fn weights() -> Vec<f32> {
    let squared = |i: usize| i.abs_diff(SIDE / 2).pow(2) as f32;
    let distances = (0..SIDE * SIDE).map(|i| (squared(i / SIDE) + squared(i % SIDE)).sqrt());
    let inner = RADIUS as f32 / 2.0;
    let parts: Vec<[bool; 2]> = distances.map(|d| [d <= inner, d > inner && d <= 6.5]).collect();
    let share = |part: usize| 1.0 / parts.iter().filter(|is_in| is_in[part]).count() as f32;
    let (disc, ring) = (share(0), share(1));
    parts.iter().map(|&[a, b]| f32::from(a) * disc - f32::from(b) * ring).collect()
}

/// Makes a box around each pixel. Its score is the response of the filter if no pixel nearby has a larger one, else 0.
#[operator]
pub struct Peaks {
    /// The response of the filter, `[1, rows, columns]`.
    #[input]
    response: &Tensor<f32>,
    /// The boxes in pixels of a frame.
    #[output]
    boxes: Tensor<f32>,
    /// The scores of the boxes.
    #[output]
    scores: Tensor<f32>,
}

impl Compute for Peaks {
    fn compute(&mut self, io: PeaksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (response, stream) = io.response.receive().receive_cuda_stream(cx)?;
        let mut scores = cx.tensor(response.shape(), &stream)?;
        stream.map::<peaks>((&mut scores, response))?;
        let mut boxes = cx.tensor([response.len(), 4], &stream)?;
        stream.map::<edges>((&mut boxes, response.cols(), RADIUS as f32))?;
        io.boxes.emit(boxes)?;
        io.scores.emit(scores.reshape([response.len()])?)
    }
}

/// Downloads pictures and boxes, and reports them one tick later.
#[operator(no_new)]
pub struct Show {
    /// The pictures.
    #[input]
    picture: &Image<Rgb<u8>>,
    /// The boxes on each picture.
    #[input]
    found: &Detections,
    report: Report,
    before: Option<Copies>,
}

/// The copies of a tick.
struct Copies(u64, Download<u8>, Download<f32>, Download<f32>, Download<u32>);

impl Show {
    /// Calls `report` for each picture.
    pub fn new(report: Report) -> Self {
        Self { report, before: None }
    }

    fn report(&mut self, next: Option<Copies>) -> Result<()> {
        let before = std::mem::replace(&mut self.before, next);
        let Some(Copies(number, picture, boxes, scores, count)) = before else { return Ok(()) };
        let count = count.wait_blocking()?[0] as usize;
        let boxes = &boxes.wait_blocking()?.as_chunks().0[..count];
        (self.report)(number, picture.wait_blocking()?, boxes, &scores.wait_blocking()?[..count])
    }
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (picture, stream) = io.picture.receive_with_stream(cx)?;
        let (found, _) = io.found.receive_with_stream(cx)?;
        let next = Copies(
            cx.tick(),
            cx.download(picture.samples(), &stream)?,
            cx.download(&found.boxes, &stream)?,
            cx.download(&found.scores, &stream)?,
            cx.download(&found.count, &stream)?,
        );
        self.report(Some(next))
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.report(None)
    }
}

graph! {
    /// Finds the discs in `count` frames. A disc has at least the contrast `threshold`. `report` gets each frame.
    pub struct Detector(count: u64, threshold: f32, report: Report) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5);

        #[when(count(count))]
        let camera: Camera = Camera::new();
        #[streams(STREAMS)]
        let upload: Upload<u8> = Upload::with_shape([HEIGHT + HEIGHT / 2, WIDTH])?;
        let image: FromTensor<Nv12> = FromTensor::new([WIDTH, HEIGHT], Colour::default());
        #[streams(STREAMS)]
        let rgb: Convert<Nv12, Rgb<u8>> = Convert::new();
        #[streams(STREAMS)]
        let grey: Convert<Nv12, Grey<f32>> = Convert::new();
        let half: Resize<Grey<f32>> = Resize::area(WIDTH / 2, HEIGHT / 2)?;
        let tensor: IntoTensor<Grey<f32>> = IntoTensor::planar();
        let filter: Convolve2d = Convolve2d::new(weights(), [SIDE, SIDE])?;
        let peaks: Peaks = Peaks::new();
        let best: NonMaxSuppression = NonMaxSuppression::new(0.2, MOST)?.with_score(threshold)?;
        #[streams(STREAMS)]
        let overlay: OverlayBoxes<Rgb<u8>> = OverlayBoxes::new(1.0, Paint::opaque([255.0, 0.0, 0.0, 0.0]))?;
        #[streams(STREAMS)]
        let show: Show = Show::new(report);

        camera.frame >> upload.data;
        upload.tensor >> image.tensor;
        image.image >> rgb.image;
        image.image >> grey.image;
        grey.converted >> half.image;
        half.resized >> tensor.image;
        tensor.tensor >> filter.image;
        filter.convolved >> peaks.response;
        peaks.boxes >> best.boxes;
        peaks.scores >> best.scores;
        rgb.converted >> overlay.image;
        best.kept >> overlay.boxes;
        overlay.drawn >> show.picture;
        best.kept >> show.found;
    }
}
