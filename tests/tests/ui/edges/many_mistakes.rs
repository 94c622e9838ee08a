// Mistakes of grammar, of names and of types: all are reported in one run.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Fuse, Show};

graph! {
    pub struct Stereo {
        let left: Camera = Camera::new(10, 0.5);
        let right: Camera = Camera::new(10, 1);
        let cast: Cast = Cast::new();
        let again: Cast = Cast::new();
        let fuse: Fuse = Fuse::new();
        let show: Show = Show::new(Vec::new());

        left.frame > cast.src;
        left.frame >> fuse.left;
        right.frme >> again.src;
        fuse.depth >> show;
        again.dst >> (fuse.right, show.image);
        cast.dst >> show.image;
        fuse.;
    }
}

fn main() -> Result<()> {
    // Uses of the graph cause no further errors.
    let mut graph = Stereo::new(&Platform::detect()?)?;
    println!("{} {}", graph.show().seen().len(), Stereo::diagram().mermaid());
    graph.run()?;
    Ok(())
}
