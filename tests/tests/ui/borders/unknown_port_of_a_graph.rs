// The graph has no such input.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

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
        let show: Show = Show::new(Vec::new());
        camera.frame >> preprocess.frme;
        preprocess.image >> show.image;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
