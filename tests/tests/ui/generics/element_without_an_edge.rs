// An element of an array of ports has no edge inside, for this length.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// A graph with three casts, and as many ports as the parameter says.
    pub struct Part<const N: usize> {
        input frames: [&Tensor<u8>; N];
        let casts: [Cast; 3] = |_| Cast::new();
        for i in 0..3 {
            frames[i] >> casts[i].src;
            casts[i].dst >> _;
        }
    }
}

graph! {
    /// A graph with a part of four elements.
    pub struct App {
        let cameras: [Camera; 4] = |_| Camera::new(70, 1);
        let part: Part<4> = Part::new();
        for i in 0..4 {
            cameras[i].frame >> part.frames[i];
        }
    }
}

fn main() {}
