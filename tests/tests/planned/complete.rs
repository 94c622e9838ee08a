//! Law 17 for work that the host has found complete before a consumer receives it. No stream waits for such work,
//! so the wait implies nothing.

use streamflow::prelude::*;
use streamflow_tests::kernels::mixing::map;
use streamflow_tests::{Failed, Suite, check_equal, seen};

use super::nodes::*;
use super::waits::{Skip, skipping};

pub(crate) fn add(suite: Suite) -> Suite {
    suite.both("work_that_the_host_has_found_complete_implies_nothing", found_complete)
}

const TICKS: u64 = 6;

graph! {
    /// A graph whose host finds the work of `step` complete before `join` receives it, so that `join` waits for no
    /// record of `step`.
    struct Done(noted: Noted, got: Got) {
        #[when(count(TICKS))] let source: Source = Source::new();
        let step: Step = Step::new(1, noted.clone());
        #[when(stream_done(a))] let join: Join = Join::new(noted.clone());
        let sink: Sink = Sink::new(noted, got);
        source.image >> (step.image, join.b);
        step.out >> join.a;
        join.out >> sink.image;
    }
}

/// An operator that sends an image, after the host has waited for it.
#[operator]
struct Synchronizes {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
}

impl Compute for Synchronizes {
    fn compute(&mut self, io: SynchronizesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<map>(LEN, (&mut out, image, 1, 0))?;
        io.out.emit(out)?;
        Ok(stream.synchronize_blocking()?)
    }
}

graph! {
    struct Synchronized(noted: Noted, got: Got) {
        #[when(count(TICKS))] let source: Source = Source::new();
        let step: Synchronizes = Synchronizes::new();
        let join: Join = Join::new(noted.clone());
        let sink: Sink = Sink::new(noted, got);
        source.image >> (step.image, join.b);
        step.out >> join.a;
        join.out >> sink.image;
    }
}

fn found_complete(platform: &Platform) -> Result<(), Failed> {
    let (expected, done, synchronized) = (Got::default(), Got::default(), Got::default());
    Skip::new(platform, per_operator(), Noted::default(), expected.clone())?.run()?;
    let mut graph = Done::new(platform, Noted::default(), done.clone())?;
    check_equal(skipping(&mut graph, "b")?.as_str(), "image → b, implied by a")?;
    graph.run()?;
    check_equal(seen::all(&done), seen::all(&expected))?;
    Synchronized::new(platform, Noted::default(), synchronized.clone())?.run()?;
    check_equal(seen::all(&synchronized), seen::all(&expected))
}
