// An interface has an array of ports.
use streamflow::prelude::*;

operator_interface! {
    /// A source of several frames.
    pub trait FrameSource {
        output frames: [Tensor<u8>; 4];
    }
}

fn main() {}
