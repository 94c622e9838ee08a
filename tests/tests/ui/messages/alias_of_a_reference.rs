// The `&` of an input in a type alias, in a whole program.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

type Image<'a> = &'a Tensor<f32>;

#[operator]
pub struct Draw {
    #[input]
    image: Image,
}

impl Compute for Draw {
    fn compute(&mut self, io: DrawIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        cx.download(image, &stream)?.wait_blocking()?;
        Ok(())
    }
}

graph! {
    pub struct App {
        let camera: Camera = Camera::new(480, 1);
        let cast: Cast = Cast::new();
        let draw: Draw = Draw::new();

        camera.frame >> cast.src;
        cast.dst >> draw.image;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
