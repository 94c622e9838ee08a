// Two graphs with the same names in one file.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct One {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(2);
        #[streams(GPU)]
        #[when(count(1))]
        let camera: Camera = Camera::new(4, 1);
        #[streams(GPU)]
        let cast: Cast = Cast::new();

        camera.frame >> cast.src;
        cast.dst >> _;
    }
}

graph! {
    pub struct Two {
        const GPU: CudaStreamPool = CudaStreamPool::new();
        #[streams(GPU)]
        #[when(count(1))]
        let camera: Camera = Camera::new(4, 1);
        #[streams(none)]
        let cast: Cast = Cast::new();

        camera.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() -> Result<()> {
    let platform = Platform::host().build()?;
    One::new(&platform)?.run()?;
    Two::new(&platform)?.run()?;
    Ok(())
}
