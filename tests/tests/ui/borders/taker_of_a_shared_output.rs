// The graph shares the messages of its output, and the reader takes them.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert, Show};

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Shared<Tensor<f32>>;
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());
        frame >> cast.src;
        cast.dst >> (image, show.image);
    }
}

graph! {
    /// An application.
    pub struct App {
        let camera: Camera = Camera::new(10, 0);
        let part: Part = Part::new();
        let invert: Invert = Invert::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> part.frame;
        part.image >> invert.src;
        invert.dst >> show.image;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
