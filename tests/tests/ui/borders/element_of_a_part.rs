// Of an array of graphs, one has an element without an edge.
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
        let cameras: [Camera; 6] = |_| Camera::new(70, 1);
        let parts: [Part; 2] = |_| Part::new();
        for i in 0..3 {
            cameras[i].frame >> parts[0].frames[i];
            parts[0].images[i] >> _;
            parts[1].images[i] >> _;
        }
        cameras[3].frame >> parts[1].frames[0];
        cameras[4].frame >> parts[1].frames[2];
        cameras[5].frame >> _;
    }
}

fn main() {}
