// The node is no array.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    /// An application.
    pub struct App {
        let camera: Camera = Camera::new(10, 0);
        camera[0].frame >> _;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
