// The edge between two graphs is missing.
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
    /// Changes signs.
    pub struct Negative {
        input image: Tensor<f32>;
        output negative: Tensor<f32>;
        let invert: Invert = Invert::new();
        image >> invert.src;
        invert.dst >> negative;
    }
}

graph! {
    /// An application.
    pub struct App {
        let camera: Camera = Camera::new(10, 0);
        let preprocess: Preprocess = Preprocess::new();
        let negative: Negative = Negative::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> preprocess.frame;
        negative.negative >> show.image;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
