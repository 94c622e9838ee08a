// A node that no edge names, and one that is declared without `let`.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct App {
        let camera: Camera = Camera::new(10, 0);
        let cast: Cast = Cast::new();
        let again: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());

        camera.frame >> cast.src;
        cast.dst >> show.image;
    }
}

graph! {
    pub struct Other {
        let camera: Camera = Camera::new(10, 0);
        cast: Cast = Cast::new();

        camera.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
