// The loop has no turn, for this constant parameter, so no edge leads from a node.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// A graph with ports and a constant parameter.
    pub struct Part<const N: usize> {
        output image: Tensor<f32>;
        let camera: Camera = Camera::new(10, 1);
        let casts: [Cast; N] = |_| Cast::new();
        let more: Camera = Camera::new(10, 2);
        more.frame >> casts[0].src;
        for i in 1..N {
            camera.frame >> casts[i].src;
            casts[i].dst >> _;
        }
        casts[0].dst >> image;
    }
}

graph! {
    /// An application.
    pub struct App {
        let right: Part<2> = Part::new();
        let wrong: Part<1> = Part::new();
        right.image >> _;
        wrong.image >> _;
    }
}

fn main() {}
