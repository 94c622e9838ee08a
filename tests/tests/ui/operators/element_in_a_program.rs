// A tensor of what is no element, in a whole program.
use streamflow::prelude::*;

#[operator(streams(fill))]
pub struct Mask {
    #[output]
    mask: Tensor<bool>,
}

impl Compute for Mask {
    fn compute(&mut self, io: MaskIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mask = cx.tensor([4, 8], &stream)?;
        io.mask.set_cuda_stream(&stream).emit(mask)
    }
}

graph! {
    pub struct App {
        #[when(count(3))]
        let mask: Mask = Mask::new();

        mask.mask >> _;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
