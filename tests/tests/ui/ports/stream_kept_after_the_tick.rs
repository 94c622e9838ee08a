use std::cell::RefCell;

use streamflow::prelude::*;

thread_local! {
    static KEPT: RefCell<Option<Stream<'static>>> = const { RefCell::new(None) };
}

#[operator(streams(fill))]
pub struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        KEPT.with(|kept| *kept.borrow_mut() = Some(stream));
        io.image.set_cuda_stream(&stream).emit(cx.tensor([8], &stream)?)
    }
}

fn main() {}
