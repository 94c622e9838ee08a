// The pool has fewer streams than the operators inside of the graph declare.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert, Show};

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        let invert: Invert = Invert::new();
        frame >> cast.src;
        cast.dst >> invert.src;
        invert.dst >> image;
    }
}

graph! {
    /// An application.
    pub struct App {
        const SMALL: CudaStreamPool = CudaStreamPool::new().max_size(2);
        #[streams(SMALL)]
        let camera: Camera = Camera::new(10, 0);
        #[streams(SMALL)]
        let part: Part = Part::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> part.frame;
        part.image >> show.image;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
