//! `OnStream`: a value that `start` makes on a stream and that lives longer than a tick. It can be used only with
//! that stream.

use streamflow::context::OnStream;
use streamflow::driver::RawStream;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::kernels::{add_one, fill};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_value_made_in_start_can_be_used_in_compute", used)
        .both("using_a_value_with_another_stream_is_an_error", other_stream)
        .both("start_returns_the_error_of_the_constructor", unmakeable)
}

/// A value like a library's plan, which has the raw stream and memory of its own.
struct Plan {
    raw: RawStream,
    sums: Tensor<f32>,
    uses: u64,
}

/// The stream with which `compute` uses the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Work,
    Other,
    Default,
}

/// An operator that adds one to the plan's memory in each tick.
#[operator(streams(work, other))]
struct Accumulate {
    #[output]
    sums: Download<f32>,
    on: On,
    plan: Option<OnStream<Plan>>,
}

impl Compute for Accumulate {
    fn start(&mut self, streams: AccumulateStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(streams.work)?;
        self.plan = Some(cx.on_stream(&stream, |stream| {
            let mut sums = cx.platform().tensor([100], stream)?;
            stream.launch::<fill>(sums.len(), (&mut sums, 0.5))?;
            Ok(Plan { raw: stream.raw(), sums, uses: 0 })
        })?);
        Ok(())
    }

    fn compute(&mut self, io: AccumulateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = match self.on {
            On::Work => cx.allocate_cuda_stream(io.work)?,
            On::Other => cx.allocate_cuda_stream(io.other)?,
            On::Default => cx.default_stream()?,
        };
        let Some(plan) = &mut self.plan else { return Err(Failure::msg("`start` comes first")) };
        let sums = plan.with(&stream, |plan| {
            plan.uses += 1;
            if plan.raw != stream.raw() {
                return Err(Failure::msg("the stream is not the plan's"));
            }
            stream.launch::<add_one>(plan.sums.len(), (&mut plan.sums,))?;
            Ok(cx.download(&plan.sums, &stream)?)
        })??;
        io.sums.emit(sums)
    }
}

fn used(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Accumulate::new(On::Work, None))?;
    for tick in 1..=4 {
        check(harness.tick()?, || "the source was not ready".into())?;
        let sums =
            harness.take(|ports| &mut ports.sums).ok_or(Failed::msg("no message was emitted"))?;
        let (found, wanted) = (sums.message.wait_blocking()?, [0.5 + tick as f32; 100]);
        check(found == wanted, || format!("tick {tick}: {found:?}"))?;
    }
    Ok(harness.stop()?)
}

fn other_stream(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Accumulate::new(On::Work, None))?;
    harness.tick()?;
    for on in [On::Other, On::Default] {
        harness.operator().on = on;
        let is_other = |error: &Error| match error {
            Error::Operator { hook: "compute", cause, .. } => {
                matches!(cause.downcast_ref(), Some(Error::OtherStream { made_for, used_on }) if made_for != used_on)
            }
            _ => false,
        };
        let text = check_error("another stream", harness.tick(), is_other)?;
        check_text(
            &text,
            &[
                "`Accumulate`",
                "was made for the stream `Accumulate.",
                "is used on `",
                "make one for each stream",
            ],
        )?;
        check(harness.take(|ports| &mut ports.sums).is_none(), || {
            "the failed tick has emitted".into()
        })?;
    }
    // After the refused uses, the plan is unchanged and can still be used.
    harness.operator().on = On::Work;
    harness.tick()?;
    let sums =
        harness.take(|ports| &mut ports.sums).ok_or(Failed::msg("no message was emitted"))?;
    let found = sums.message.wait_blocking()?;
    check(found == [2.5; 100], || format!("{found:?}"))?;
    Ok(harness.stop()?)
}

/// An operator whose plan can't be made.
#[operator(streams(work))]
struct Unmakeable {
    #[output]
    number: u64,
}

impl Compute for Unmakeable {
    fn start(&mut self, streams: UnmakeableStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(streams.work)?;
        let _plan: OnStream<u8> = cx.on_stream(&stream, |_| Err(Failure::msg("no licence")))?;
        Ok(())
    }

    fn compute(&mut self, io: UnmakeableIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

fn unmakeable(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Unmakeable::new())?;
    let is_operator = |error: &Error| matches!(error, Error::Operator { hook: "start", .. });
    let text = check_error("start", harness.tick(), is_operator)?;
    check_text(&text, &["`Unmakeable`", "no licence"])
}
