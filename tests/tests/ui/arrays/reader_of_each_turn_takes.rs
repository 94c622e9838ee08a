// Each turn of the loop gives one and the same message to an input that takes it.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert};

graph! {
    /// An application.
    pub struct App {
        let camera: Camera = Camera::new(10, 0);
        let cast: Cast = Cast::new();
        let inverts: [Invert; 3] = |_| Invert::new();
        camera.frame >> cast.src;
        for i in 0..3 {
            cast.dst >> inverts[i].src;
            inverts[i].dst >> _;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
