// An enum whose fields are no messages; its data without its stream; a copy of what can't be copied.
use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

pub struct VideoBuffer(Vec<u8>);

#[derive(Message)]
pub enum Wrong {
    Tensor(Tensor<f32>),
    Video { buffer: VideoBuffer },
}

#[derive(Message)]
pub enum Image {
    Tensor(Tensor<f32>),
    Pinned(Pinned<f32>),
}

#[operator(streams(work))]
pub struct Source {
    #[output]
    image: Image,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        io.image.set_cuda_stream(&stream).emit(Image::Tensor(cx.tensor([1], &stream)?))
    }
}

#[operator]
pub struct Show {
    #[input]
    image: Image,
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, _: &ExecutionContext) -> Result<()> {
        let image = io.image.receive().into_data();
        let _ = image;
        Ok(())
    }
}

graph! {
    pub struct Copied {
        let source: Source = Source::new();
        let one: Show = Show::new();
        let other: Show = Show::new();
        #[copy] source.image >> one.image;
        source.image >> other.image;
    }
}

graph! {
    pub struct OfOneVariant {
        let camera: Camera = Camera::new(1, 1);
        let show: Show = Show::new();
        camera.frame >> show.image;
    }
}

fn main() {}
