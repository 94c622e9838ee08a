//! The device that is bound in a hook after the hook has sent a message to another device.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_tests::kernels::fill;
use streamflow_tests::layers::Bound;
use streamflow_tests::ordered::platform;
use streamflow_tests::stereo::Show;
use streamflow_tests::tensors::LEN;
use streamflow_tests::{Failed, check, foreign};

/// An operator that sends a message, and then makes a stream on the bound device, as a library does.
#[operator(streams(work))]
struct SendsThenMakes {
    #[output]
    image: Tensor<f32>,
}

impl Compute for SendsThenMakes {
    fn compute(&mut self, io: SendsThenMakesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut image, 1.0))?;
        io.image.set_cuda_stream(&stream).emit(image)?;
        Ok(foreign::make_event(&**cx.platform().driver(), cx.device())?)
    }
}

graph! {
    struct BoundAfterSend {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(1);

        #[when(count(2))]
        let source: SendsThenMakes = SendsThenMakes::new();
        #[streams(FAR)]
        let there: Show = Show::new(Vec::new());

        #[transfer]
        source.image >> there.image;
    }
}

/// Checks that the hook's own device is bound after the send. The copy to the other device is queued within the
/// hook, with that device bound.
pub(super) fn bound_after_send(on: &Platform) -> Result<(), Failed> {
    let mut graph = BoundAfterSend::new(&platform(Arc::new(Bound::new(on.driver().clone())))?)?;
    graph.run()?;
    let seen = graph.there().seen();
    check(seen == [(1.0, None); 2], || format!("{seen:?}"))
}
