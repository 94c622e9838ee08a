// A first message is for one edge.
use streamflow::prelude::*;
use streamflow_tests::stereo::Invert;

graph! {
    /// An application.
    pub struct App {
        let inverts: [Invert; 3] = |_| Invert::new();
        for i in 0..3 {
            #[feedback(initial = platform.upload(&[1.0_f32])?)]
            inverts[i].dst >> inverts[i].src;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
