// The type of the port is no message.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

/// No message.
pub struct Unmarked(*const u8);

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Unmarked;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
