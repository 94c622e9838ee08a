// The output of the graph has two readers, and one of them takes the message.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert, Show};

graph! {
    /// Converts frames.
    pub struct Preprocess {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

graph! {
    /// An application.
    pub struct App {
        let camera: Camera = Camera::new(10, 0);
        let preprocess: Preprocess = Preprocess::new();
        let invert: Invert = Invert::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> preprocess.frame;
        preprocess.image >> (invert.src, show.image);
        invert.dst >> _;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
