// A generic operator of a type that does not have its bound.
use streamflow::prelude::*;

#[operator(streams(fill))]
pub struct Zeros<T: Element> {
    #[output]
    image: Tensor<T>,
}

impl<T: Element> Compute for Zeros<T> {
    fn compute(&mut self, io: ZerosIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        io.image.set_cuda_stream(&stream).emit(cx.tensor([8], &stream)?)
    }
}

#[operator]
pub struct Last<T: Element> {
    #[input]
    image: &Tensor<T>,
    kept: Option<T>,
}

impl<T: Element> Compute for Last<T> {
    fn compute(&mut self, io: LastIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        self.kept = cx.download(image, &stream)?.wait_blocking()?.last().copied();
        Ok(())
    }
}

graph! {
    pub struct App {
        #[when(count(3))]
        let zeros: Zeros<bool> = Zeros::new();
        let last: Last<bool> = Last::new(None);

        zeros.image >> last.image;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
