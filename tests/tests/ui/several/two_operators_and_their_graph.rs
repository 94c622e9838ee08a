// A node without `#[operator]`, an operator without `compute`, and an edge of the wrong type between right operators.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Show};

pub struct Log;

#[operator]
pub struct Idle {
    #[output]
    number: u64,
}

graph! {
    pub struct App {
        let idle: Idle = Idle::new();
        let log: Log = Log;
        let camera: Camera = Camera::new(480, 1);
        let show: Show = Show::new(Vec::new());

        idle.number >> log.number;
        camera.frame >> show.image;
    }
}

fn main() {}
