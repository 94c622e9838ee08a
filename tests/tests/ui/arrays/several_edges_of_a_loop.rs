// Each turn of the loop leads to the one input of a single node.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// An application.
    pub struct App {
        let cameras: [Camera; 3] = |i| Camera::new(10, i as u8);
        let cast: Cast = Cast::new();
        for i in 0..3 {
            cameras[i].frame >> cast.src;
        }
        cast.dst >> _;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
