// The operators inside of the graph work on the host alone, and the node has a pool.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Show};

graph! {
    /// Sends numbers on.
    pub struct Numbers {
        output number: u64;
        let counter: Counter = Counter::new();
        counter.number >> number;
    }
}

graph! {
    /// An application.
    pub struct App {
        const POOL: CudaStreamPool = CudaStreamPool::new();
        #[streams(POOL)]
        let numbers: Numbers = Numbers::new();
        let camera: Camera = Camera::new(10, 0);
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> cast.src;
        cast.dst >> show.image;
        numbers.number >> show.label;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
