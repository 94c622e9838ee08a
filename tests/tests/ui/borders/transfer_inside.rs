// All nodes inside are on one device, so there is nothing to transfer.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Cast, Invert};

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        let invert: Invert = Invert::new();
        frame >> cast.src;
        #[transfer]
        cast.dst >> invert.src;
        invert.dst >> image;
    }
}

fn main() {}
