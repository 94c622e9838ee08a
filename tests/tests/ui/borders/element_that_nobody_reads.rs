// Nothing reads an element of the output of the graph.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

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
        let show: Show = Show::new(Vec::new());
        for i in 0..3 {
            cameras[i].frame >> part.frames[i];
        }
        part.images[0] >> show.image;
        part.images[2] >> _;
    }
}

fn main() {}
