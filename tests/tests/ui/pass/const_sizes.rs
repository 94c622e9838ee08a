// The number of an input's producers is a parameter of the operator; element types by other names.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

type Pixel = f32;

#[operator]
pub struct Join<const N: usize> {
    #[input(size = N)]
    images: &Tensor<Pixel>,
    #[output]
    joined: u64,
}

impl<const N: usize> Compute for Join<N> {
    fn compute(&mut self, io: JoinIo<'_, N>, cx: &ExecutionContext) -> Result<()> {
        let (images, _): ([&Tensor<f32>; N], _) = io.images.receive().receive_cuda_stream(cx)?;
        io.joined.emit(images.len() as u64)
    }
}

graph! {
    pub struct Joined {
        #[when(count(1))]
        let camera: Camera = Camera::new(4, 1);
        let left: Cast = Cast::new();
        let right: Cast = Cast::new();
        let join: Join<2> = Join::new();

        camera.frame >> (left.src, right.src);
        left.dst >> join.images;
        right.dst >> join.images;
        join.joined >> _;
    }
}

fn main() -> Result<()> {
    Joined::new(&Platform::host().build()?)?.run()?;
    Ok(())
}
