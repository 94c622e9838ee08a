// No edge leads to the input of the graph.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Cast, Show};

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
        let preprocess: Preprocess = Preprocess::new();
        let show: Show = Show::new(Vec::new());
        preprocess.image >> show.image;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
