// A graph with ports runs as a part of another graph.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

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

fn main() -> Result<()> {
    Preprocess::new().run_for(3)?;
    Ok(())
}
