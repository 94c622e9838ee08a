// Nodes: a name twice, a reserved one, the name of a pool, a `mut` node, and a value of another type.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert};

graph! {
    pub struct Nodes {
        const GPU: CudaStreamPool = CudaStreamPool::new();

        #[streams(GPU)]
        let camera: Camera = Camera::new(480, 1);
        let camera: Camera = Camera::new(480, 2);
        let run: Cast = Cast::new();
        let GPU: Invert = Invert::new();
        let mut invert: Invert = Cast::new();

        camera.frame >> run.src;
        run.dst >> invert.src;
        invert.dst >> GPU.src;
        GPU.dst >> _;
    }
}

fn main() -> Result<()> {
    Nodes::new(&Platform::detect()?)?.run()?;
    Ok(())
}
