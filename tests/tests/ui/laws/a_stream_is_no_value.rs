use streamflow::prelude::*;

#[operator]
pub struct Keeper {
    #[input]
    image: &Tensor<f32>,
}

thread_local! {
    static KEPT: std::cell::Cell<Option<Stream<'static>>> = const { std::cell::Cell::new(None) };
}

impl Compute for Keeper {
    fn compute(&mut self, io: KeeperIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        KEPT.set(Some(stream));
        Ok(())
    }
}

fn main() {}
