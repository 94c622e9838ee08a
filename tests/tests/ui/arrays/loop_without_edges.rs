// The loop has no edges.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    /// An application.
    pub struct App {
        let cameras: [Camera; 3] = |i| Camera::new(10, i as u8);
        for i in 0..3 {}
        for i in 0..3 {
            cameras[i].frame >> _;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
