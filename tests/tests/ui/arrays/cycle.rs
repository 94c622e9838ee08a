// An edge leads to an earlier element.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert};

graph! {
    /// An application.
    pub struct App {
        let camera: Camera = Camera::new(10, 0);
        let cast: Cast = Cast::new();
        let steps: [Invert; 3] = |_| Invert::new();
        camera.frame >> cast.src;
        cast.dst >> steps[2].src;
        for i in 1..3 {
            steps[i].dst >> steps[i - 1].src;
        }
        steps[0].dst >> _;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
