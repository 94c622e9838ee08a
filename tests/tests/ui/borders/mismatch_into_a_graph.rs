// The output carries another type than the graph expects.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Invert, Show};

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
        let show: Show = Show::new(Vec::new());
        camera.frame >> negative.image;
        negative.negative >> show.image;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
