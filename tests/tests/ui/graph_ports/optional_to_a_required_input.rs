// The input of the graph may be without an edge, and that inside may not.
use streamflow::prelude::*;
use streamflow_tests::stereo::Show;

graph! {
    /// A graph with ports.
    pub struct Part {
        input(optional) image: &Tensor<f32>;
        input(optional) label: &u64;
        let show: Show = Show::new(Vec::new());
        image >> show.image;
        label >> show.label;
    }
}

fn main() {}
