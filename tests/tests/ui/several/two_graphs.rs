// Two graphs in one file; a mistake in one hides no mistake in the other.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct One {
        let camera: Camera = Camera::new(480, 1);
        let cast: Cast = Cast::new();

        camera.frame >> cast.src;
        camera.frame >> cast.src;
        cast.dst >> _;
    }
}

graph! {
    pub struct Two {
        let camera: Camera = Camera::new(480, 1);
        let show: Show = Show::new(Vec::new());

        camera.frame >> show.image;
    }
}

fn main() -> Result<()> {
    let platform = Platform::detect()?;
    One::new(&platform)?.run()?;
    Two::new(&platform)?.run()?;
    Ok(())
}
