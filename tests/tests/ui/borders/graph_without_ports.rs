// A graph without ports is no node.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    /// A graph with ports.
    pub struct Whole {
        let camera: Camera = Camera::new(10, 0);
        camera.frame >> _;
    }
}

graph! {
    /// An application.
    pub struct App {
        let whole: Whole = Whole::new(platform)?;
    }
}

fn main() {}
