// The graph contains itself.
use streamflow::prelude::*;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let again: Part = Part::new();
        frame >> again.frame;
        again.image >> image;
    }
}

fn main() {}
