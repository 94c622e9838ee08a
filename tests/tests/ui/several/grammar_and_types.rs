// Mistakes of grammar and of types: a statement that can't be parsed does not hide mistakes in the others.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct Mixed(count: u64) {
        const GPU = CudaStreamPool::new();

        #[when(conut(count))]
        let camera: Camera = Camera::new("wide", 1);
        let cast = Cast::new();
        let show: Show = Show::new(Vec::new());

        camera.frame > cast.src;
        camera.frame >> show.image;
        show.;
    }
}

fn main() -> Result<()> {
    Mixed::new(&Platform::detect()?, 3)?.run()?;
    Ok(())
}
