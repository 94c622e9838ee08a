// Conditions that can't be parsed.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Conditions {
        #[when]
        let a: Camera = Camera::new(1, 1);
        #[when(conut(3))]
        let b: Camera = Camera::new(1, 1);
        #[when(count)]
        let c: Camera = Camera::new(1, 1);
        #[when(count(), stream_done(a.b))]
        let d: Camera = Camera::new(1, 1);
        #[when(count(1), count(2))]
        let e: Camera = Camera::new(1, 1);
        #[when(stream_ready(image))]
        let f: Camera = Camera::new(1, 1);
        #[when(3)]
        let g: Camera = Camera::new(1, 1);
        #[when(count(1) count(2))]
        let h: Camera = Camera::new(1, 1);
        a.frame >> _;
        b.frame >> _;
        c.frame >> _;
        d.frame >> _;
        e.frame >> _;
        f.frame >> _;
        g.frame >> _;
        h.frame >> _;
    }
}

fn main() {}
