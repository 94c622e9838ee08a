// An edge the wrong way round.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Fuse, Show};

graph! {
    /// Two cameras.
    pub struct Stereo {
        let left: Camera = Camera::new(10, 0);
        let right: Camera = Camera::new(10, 1);
        let cast: Cast = Cast::new();
        let again: Cast = Cast::new();
        let fuse: Fuse = Fuse::new();
        let show: Show = Show::new(Vec::new());

        left.frame >> cast.src;
        right.frame >> again.src;
        cast.dst >> fuse.left;
        again.dst >> fuse.right;
        show.image >> fuse.depth;
    }
}

fn main() -> Result<()> {
    // Uses of the graph cause no further errors.
    let mut graph = Stereo::new(&Platform::detect()?)?;
    println!("{} {}", graph.show().seen().len(), Stereo::diagram().mermaid());
    graph.run()?;
    Ok(())
}
