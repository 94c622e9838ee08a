//! Policies for failures that can't be read.

use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    struct App() {
        #[on_failure(restrat(3, Duration::ZERO))]
        let a: Camera = Camera::new(1, 1);
        #[on_failure(ignore)]
        let b: Camera = Camera::new(1, 1);
        #[on_failure(restart)]
        let c: Camera = Camera::new(1, 1);
        #[on_failure(restart(3))]
        let d: Camera = Camera::new(1, 1);
        #[on_failure(skip(1))]
        let e: Camera = Camera::new(1, 1);
        #[on_failure]
        let f: Camera = Camera::new(1, 1);
        #[on_failure(stop, skip)]
        let g: Camera = Camera::new(1, 1);
        #[on_failure(stop)] #[on_failure(skip)]
        let h: Camera = Camera::new(1, 1);
        #[on_faliure(skip)]
        let i: Camera = Camera::new(1, 1);
        #[on_failure(restart(3, 10))]
        let j: Camera = Camera::new(1, 1);

        #[on_failure(skip)]
        a.frame >> _;
        b.frame >> _;
        c.frame >> _;
        d.frame >> _;
        e.frame >> _;
        f.frame >> _;
        g.frame >> _;
        h.frame >> _;
        i.frame >> _;
        j.frame >> _;
    }
}

fn main() {}
