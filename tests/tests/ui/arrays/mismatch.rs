// The elements send another type than the other elements expect.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Invert};

graph! {
    /// An application.
    pub struct App {
        let cameras: [Camera; 3] = |i| Camera::new(10, i as u8);
        let inverts: [Invert; 3] = |_| Invert::new();
        for i in 0..3 {
            cameras[i].frame >> inverts[i].src;
            inverts[i].dst >> _;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
