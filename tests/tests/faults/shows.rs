//! A sink of data on the device.

use streamflow::Element;
use streamflow::prelude::*;
use streamflow_examples::deliver::Report;

/// A sink that downloads its data, and reports it.
#[operator]
pub(crate) struct Shows<T: Element> {
    #[input]
    data: &Tensor<T>,
    report: Report<T>,
}

impl<T: Element> Compute for Shows<T> {
    fn compute(&mut self, io: ShowsIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let data = cx.download(data, &stream)?;
        (self.report)(cx.tick(), data.wait_blocking()?)
    }
}
