// An edge is forgotten between two nodes whose other ports are connected.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct App {
        let camera: Camera = Camera::new(10, 0);
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());

        camera.frame >> cast.src;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
