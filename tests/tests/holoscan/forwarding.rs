//! S6: `tests/system/cuda_stream.cpp`, as of Holoscan 4.

use streamflow::prelude::*;
use streamflow_tests::Suite;

use super::operators::{SLOW, Seen, Tx, all, holds, number, push_seen};

pub(crate) fn tests(suite: Suite) -> Suite {
    suite.ordered("s6_entity_forwarding_stream", s6_entity_forwarding_stream)
}

#[operator]
struct Forward {
    #[input]
    image: Shared<Tensor<f32>>,
    #[output]
    out: Shared<Tensor<f32>>,
    seen: Seen<u32>,
}

impl Compute for Forward {
    fn compute(&mut self, io: ForwardIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, number(&stream)?);
        io.out.emit(image)
    }
}

#[operator]
struct ForwardedRx {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<(u32, bool)>,
}

impl Compute for ForwardedRx {
    fn compute(&mut self, io: ForwardedRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        let names: Vec<_> = image.streams().flatten().collect();
        let (image, stream) = image.receive_cuda_stream(cx)?;
        let right = holds(cx, image, &stream, cx.tick() as f32)?;
        for name in names {
            push_seen(&self.seen, (name.point().stream(), right));
        }
        Ok(())
    }
}

graph! {
    struct Forwarding(forwarders: Seen<u32>, received: Seen<(u32, bool)>) {
        #[when(count(5))] let tx: Tx = Tx::new(0.0, true, SLOW);
        let forward: Forward = Forward::new(forwarders);
        let rx: ForwardedRx = ForwardedRx::new(received);
        tx.image >> forward.image;
        forward.out >> rx.image;
    }
}

/// A message that is received and emitted unchanged keeps its data and gets the forwarder's stream.
fn s6_entity_forwarding_stream(platform: &Platform) -> Result<bool> {
    let (forwarders, received) = (Seen::default(), Seen::default());
    Forwarding::new(platform, forwarders.clone(), received.clone())?.run()?;
    let expected: Vec<_> = all(&forwarders).into_iter().map(|number| (number, true)).collect();
    Ok(expected.len() == 5 && all(&received) == expected)
}
