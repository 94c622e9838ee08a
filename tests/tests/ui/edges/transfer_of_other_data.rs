// Device data that an edge can't copy; the error names the field.
use streamflow::memory::Pinned;
use streamflow::prelude::*;

#[derive(Message)]
pub struct Frame {
    pixels: Tensor<f32>,
    staging: Pinned<f32>,
}

#[operator(streams(work))]
pub struct From {
    #[output]
    frame: Frame,
}

impl Compute for From {
    fn compute(&mut self, _: FromIo<'_>, _: &ExecutionContext) -> Result<()> {
        Ok(())
    }
}

#[operator]
pub struct To {
    #[input]
    frame: &Frame,
}

impl Compute for To {
    fn compute(&mut self, io: ToIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        Ok(())
    }
}

graph! {
    pub struct Frames {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));
        let from: From = From::new();
        #[streams(FAR)]
        let to: To = To::new();
        #[transfer]
        from.frame >> to.frame;
    }
}

fn main() {}
