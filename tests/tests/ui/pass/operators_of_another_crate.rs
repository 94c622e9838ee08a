// Operators of another crate, by a path, under another name, and reexported.
use streamflow::prelude::*;
use streamflow_tests::stereo as eyes;

mod mine {
    pub use streamflow_tests::stereo::{Fuse, Show as Screen};
}

graph! {
    pub struct Stereo(len: usize, count: u64) {
        #[when(count(count))]
        let left: eyes::Camera = eyes::Camera::new(len, 1);
        #[when(count(count))]
        let right: streamflow_tests::stereo::Camera = eyes::Camera::new(len, 2);
        let one: eyes::Cast = eyes::Cast::new();
        let two: ::streamflow_tests::stereo::Cast = eyes::Cast::new();
        let fuse: mine::Fuse = mine::Fuse::new();
        let show: self::mine::Screen = mine::Screen::new(Vec::new());

        left.frame >> one.src;
        right.frame >> two.src;
        one.dst >> fuse.left;
        two.dst >> fuse.right;
        fuse.depth >> show.image;
    }
}

fn main() -> Result<()> {
    let mut stereo = Stereo::new(&Platform::host().build()?, 8, 2)?;
    stereo.run()?;
    assert_eq!(stereo.show().seen(), [(-1.0, None), (-1.0, None)]);
    Ok(())
}
