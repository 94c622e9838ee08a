// The last turn of the loop leads to a node that is not there.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert};

graph! {
    /// An application.
    pub struct App {
        let steps: [Invert; 3] = |_| Invert::new();
        let camera: Camera = Camera::new(10, 0);
        let cast: Cast = Cast::new();
        camera.frame >> cast.src;
        cast.dst >> steps[0].src;
        for i in 0..3 {
            steps[i].dst >> steps[i + 1].src;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
