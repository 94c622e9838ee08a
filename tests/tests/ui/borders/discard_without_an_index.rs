// The discard names an array of ports without an index.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// A graph with arrays of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 3];
        output images: [Tensor<f32>; 3];
        let casts: [Cast; 3] = |_| Cast::new();
        for i in 0..3 {
            frames[i] >> casts[i].src;
            casts[i].dst >> images[i];
        }
    }
}

graph! {
    /// A graph with a graph.
    pub struct App {
        let cameras: [Camera; 3] = |_| Camera::new(70, 1);
        let part: Part = Part::new();
        for i in 0..3 {
            cameras[i].frame >> part.frames[i];
        }
        part.images >> _;
    }
}

fn main() {}
