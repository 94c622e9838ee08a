// Two edges lead to one element of one graph of an array.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// A graph with arrays of ports.
    pub struct Pair {
        input frames: [&Tensor<u8>; 2];
        output images: [Tensor<f32>; 2];
        let casts: [Cast; 2] = |_| Cast::new();
        for i in 0..2 {
            frames[i] >> casts[i].src;
            casts[i].dst >> images[i];
        }
    }
}

graph! {
    /// A graph with a graph.
    pub struct App {
        let cameras: [Camera; 5] = |_| Camera::new(70, 1);
        let parts: [Pair; 2] = |_| Pair::new();
        for i in 0..2 {
            cameras[i].frame >> parts[i].frames[i];
            cameras[i + 2].frame >> parts[i].frames[0];
            parts[i].images[0] >> _;
            parts[i].images[1] >> _;
        }
        cameras[4].frame >> parts[0].frames[1];
    }
}

fn main() {}
