// The graph is in a cycle.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Fuse, Invert};

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
        let negative: Negative = Negative::new();
        let fuse: Fuse = Fuse::new();
        negative.negative >> (fuse.left, fuse.right);
        fuse.depth >> negative.image;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
