// Type parameters that are messages without the bound `Message`: with bounds of the standard library, and with `Element`.
use streamflow::prelude::*;

#[operator]
pub struct Print<T: std::fmt::Debug + Send + Sync + 'static> {
    #[input]
    value: &T,
}

impl<T: std::fmt::Debug + Send + Sync + 'static> Compute for Print<T> {
    fn compute(&mut self, io: Self::Io<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{:?}", io.value.receive().into_data());
        Ok(())
    }
}

#[operator]
pub struct Scale<T: Element> {
    #[input]
    image: &Tensor<T>,
    #[input]
    factor: &T,
}

impl<T: Element> Compute for Scale<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        println!("{} {:?}", image.len(), io.factor.receive().into_data());
        Ok(())
    }
}

fn main() {}
