// The output of a graph carries another type than the input of the other one.
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
        let negative: Negative = Negative::new();
        let preprocess: Preprocess = Preprocess::new();
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> cast.src;
        cast.dst >> negative.image;
        negative.negative >> preprocess.frame;
        preprocess.image >> show.image;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
