// A node in another spelling is the same node: its unconnected inputs are still reported. A keyword needs it.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct App {
        let camera: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());

        r#camera.frame >> cast.r#src;
        r#cast.dst >> _;
    }
}

graph! {
    pub struct Other {
        let camera: Camera = Camera::new(1, 1);
        camera.type >> _;
        r#camera.frame >> _;
    }
}

fn main() {}
