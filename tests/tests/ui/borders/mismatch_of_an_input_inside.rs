// The input of the graph is declared with another type than the operator inside expects. Nothing makes the graph.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<f32>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
