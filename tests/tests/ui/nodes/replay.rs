// `#[replay]` with an argument, twice, and on a node.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    #[replay(2)]
    pub struct Argument {
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

graph! {
    #[replay]
    #[replay]
    pub struct Twice {
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

graph! {
    pub struct Node {
        #[replay]
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

fn main() {}
