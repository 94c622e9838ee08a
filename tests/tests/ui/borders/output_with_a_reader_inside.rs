// The graph gives the messages of its output away, and a node inside reads them too.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Cast, Show};

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());
        frame >> cast.src;
        cast.dst >> (image, show.image);
    }
}

fn main() {}
