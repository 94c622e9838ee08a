// The graph takes its input and gives it to two operators. The first one takes it, too.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Invert, Show};

graph! {
    /// A graph with ports.
    pub struct Part {
        input image: Tensor<f32>;
        output negative: Tensor<f32>;
        let invert: Invert = Invert::new();
        let show: Show = Show::new(Vec::new());
        image >> (invert.src, show.image);
        invert.dst >> negative;
    }
}

fn main() {}
