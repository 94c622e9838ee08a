// The graph lacks a port of the interface.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Invert, Step};

operator_interface! {
    /// A step with a mask.
    pub trait Masked {
        input src: Tensor<f32>;
        output dst: Tensor<f32>;
        output mask: Tensor<f32>;
    }
}

graph! {
    /// A graph with ports.
    #[implements(Step, Masked)]
    pub struct Part {
        input src: Tensor<f32>;
        output dst: Tensor<f32>;
        let invert: Invert = Invert::new();
        src >> invert.src;
        invert.dst >> dst;
    }
}

fn main() {}
