// The edge names an array of ports without an index.
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
        let camera: Camera = Camera::new(70, 1);
        let part: Part = Part::new();
        let shows: [Show; 3] = |_| Show::new(Vec::new());
        camera.frame >> part.frames;
        for i in 0..3 {
            part.images[i] >> shows[i].image;
        }
    }
}

fn main() {}
