// A program whose only mistake is that `#[derive(Message)]` is missing on `Boxes`.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

pub struct Boxes {
    boxes: Tensor<f32>,
    count: u64,
}

#[operator]
pub struct Detect {
    #[input]
    image: Tensor<f32>,
    #[output]
    boxes: Boxes,
}

impl Compute for Detect {
    fn compute(&mut self, io: DetectIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (boxes, _) = io.image.receive().receive_cuda_stream(cx)?;
        io.boxes.emit(Boxes { boxes, count: 4 })
    }
}

#[operator]
pub struct Draw {
    #[input]
    boxes: Boxes,
    drawn: u64,
}

impl Compute for Draw {
    fn compute(&mut self, io: DrawIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (boxes, stream) = io.boxes.receive().receive_cuda_stream(cx)?;
        cx.download(&boxes.boxes, &stream)?.wait_blocking()?;
        self.drawn += boxes.count;
        Ok(())
    }
}

graph! {
    pub struct App {
        let camera: Camera = Camera::new(480, 1);
        let cast: Cast = Cast::new();
        let detect: Detect = Detect::new();
        let draw: Draw = Draw::new(0);

        camera.frame >> cast.src;
        cast.dst >> detect.image;
        detect.boxes >> draw.boxes;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
