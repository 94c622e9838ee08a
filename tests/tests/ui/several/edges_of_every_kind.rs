// A wrong type, a fan-out to an input that takes, a cycle and an unknown node: four edges, four errors.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Fuse, Invert, Show};

graph! {
    pub struct Edges {
        let camera: Camera = Camera::new(480, 1);
        let cast: Cast = Cast::new();
        let one: Invert = Invert::new();
        let two: Invert = Invert::new();
        let fuse: Fuse = Fuse::new();
        let show: Show = Show::new(Vec::new());

        camera.frame >> cast.src;
        camera.frame >> show.image;
        cast.dst >> (fuse.left, one.src);
        one.dst >> fuse.right;
        two.dst >> two.src;
        fuse.depth >> shwo.image;
    }
}

fn main() -> Result<()> {
    Edges::new(&Platform::detect()?)?.run()?;
    Ok(())
}
