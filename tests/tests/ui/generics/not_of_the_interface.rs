// The operator does not implement the interface of the parameter of a graph inside.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Cast, Counter, FrameSource};

graph! {
    /// A graph with ports and a type parameter.
    pub struct Part<S: FrameSource>(source: New<S>) {
        output image: Tensor<f32>;
        let source: S = source;
        let cast: Cast = Cast::new();
        source.frame >> cast.src;
        cast.dst >> image;
    }
}

graph! {
    /// An application.
    pub struct App {
        let part: Part<Counter> = Part::new(Counter::new());
        part.image >> _;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
