// The range is longer than the array of ports, for this length.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// A graph with arrays of ports.
    pub struct Part<const N: usize> {
        input frames: [&Tensor<u8>; N];
        output images: [Tensor<f32>; N];
        let casts: [Cast; N] = |_| Cast::new();
        for i in 0..N {
            frames[i] >> casts[i].src;
            casts[i].dst >> images[i];
        }
    }
}

graph! {
    /// A graph with a part of two elements.
    pub struct App {
        let cameras: [Camera; 3] = |_| Camera::new(70, 1);
        let part: Part<2> = Part::new();
        for i in 0..3 {
            cameras[i].frame >> part.frames[i];
            part.images[i] >> _;
        }
    }
}

fn main() {}
