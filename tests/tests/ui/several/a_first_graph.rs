// A beginner's graph: an edge the wrong way round, a misspelt port, an unconnected input and a pool
// that is not declared.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Fuse, Show};

graph! {
    pub struct Stereo {
        #[streams(GPU)]
        let left: Camera = Camera::new(480, 1);
        let right: Camera = Camera::new(480, 2);
        let cast: Cast = Cast::new();
        let again: Cast = Cast::new();
        let fuse: Fuse = Fuse::new();
        let show: Show = Show::new(Vec::new());

        left.frame >> cast.src;
        again.src >> right.frame;
        cast.dts >> fuse.left;
        fuse.depth >> show.image;
    }
}

fn main() -> Result<()> {
    Stereo::new(&Platform::detect()?)?.run()?;
    Ok(())
}
