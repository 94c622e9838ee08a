// Comments, attributes and patterns among the parameters, and a graph without a body.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    //! Makes frames.
    #[streams(GPU)]
    pub struct App(
        /// How many.
        count: u64,
        #[allow(unused)] len: usize,
        mut first: u8,
        (a, b): (u8, u8),
        last: std::collections::HashMap<u8, u8>,
    ) {
        //! Frames.
        #[when(count(count))]
        let camera: Camera = Camera::new(len, last.len() as u8);
        camera.frame >> _;
    }
}

graph! {
    pub struct Empty(count: u64)
}

fn main() {}
