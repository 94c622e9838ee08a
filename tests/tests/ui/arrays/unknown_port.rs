// The elements have no such port.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// An application.
    pub struct App {
        let cameras: [Camera; 3] = |i| Camera::new(10, i as u8);
        let casts: [Cast; 3] = |_| Cast::new();
        for i in 0..3 {
            cameras[i].frame >> casts[i].scr;
            casts[i].dst >> _;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
