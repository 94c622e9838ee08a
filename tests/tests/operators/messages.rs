//! Metadata that an operator reads and sends, and the edges of an input with `many`.

use streamflow::message::{Metadata, Value};
use streamflow::port::Many;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow::time::Timestamp;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::{Failed, check, check_equal};

/// An operator that notes its message's acquisition time and gain, and sends messages with a later time or a
/// higher gain.
#[operator]
struct Stamps {
    #[input]
    number: u64,
    #[input(optional)]
    absent: u64,
    #[output]
    same: u64,
    #[output]
    later: u64,
    #[output]
    louder: u64,
    seen: Seen<(Option<Timestamp>, Option<Value>, bool)>,
}

impl Compute for Stamps {
    fn compute(&mut self, io: StampsIo<'_>, _: &ExecutionContext) -> Result<()> {
        let (number, absent) = (io.number.receive(), io.absent.receive());
        let acquired = number.metadata().and_then(Metadata::acquired);
        let gain = number.metadata().and_then(|metadata| metadata.get("gain").cloned());
        let has_other = absent.metadata().is_some() || absent.into_data().is_some();
        push_seen(&self.seen, (acquired, gain, has_other));
        let number = number.into_data();
        io.same.emit(number)?;
        io.later.acquired(Timestamp(30)).emit(number)?;
        io.louder.emit_with(number, |metadata| metadata.set("gain", 4.0))
    }
}

pub(crate) fn metadata(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut harness = OperatorHarness::new(platform, Stamps::new(seen.clone()))?;
    let mut sent = Metadata::default();
    sent.set_acquired(Timestamp(20));
    sent.set("gain", 2.0);
    harness.push_with(|ports| &mut ports.number, 7, sent)?;
    check(harness.tick()?, || "the operator was not ready".into())?;
    let gain = |value| Some(Value::Float(value));
    check_equal(all(&seen), vec![(Some(Timestamp(20)), gain(2.0), false)])?;
    let emitted = [
        harness.take(|ports| &mut ports.same),
        harness.take(|ports| &mut ports.later),
        harness.take(|ports| &mut ports.louder),
    ];
    let carried = emitted.into_iter().flatten().map(|emitted| {
        let metadata = emitted.metadata;
        (*emitted.message, metadata.acquired(), metadata.get("gain").cloned())
    });
    let expected = vec![
        (7, Some(Timestamp(20)), gain(2.0)),
        (7, Some(Timestamp(30)), gain(2.0)),
        (7, Some(Timestamp(20)), gain(4.0)),
    ];
    check_equal(carried.collect(), expected)?;
    Ok(harness.stop()?)
}

/// An operator that keeps its messages in the order of the edges.
#[operator]
struct Edges {
    #[input(many)]
    numbers: u64,
    seen: Seen<Vec<u64>>,
}

impl Compute for Edges {
    fn compute(&mut self, io: EdgesIo<'_>, _: &ExecutionContext) -> Result<()> {
        let numbers: Many<'_, u64> = io.numbers.receive().into_data();
        push_seen(&self.seen, numbers.collect());
        Ok(())
    }
}

/// Checks that a push to an edge also makes the edges before it, and that the input is ready when each edge has a
/// message.
pub(crate) fn edges(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut harness = OperatorHarness::new(platform, Edges::new(seen.clone()))?;
    harness.push_to(2, |ports| &mut ports.numbers, 30)?;
    harness.push_to(0, |ports| &mut ports.numbers, 10)?;
    check(!harness.tick()?, || "the operator ran with an edge without a message".into())?;
    harness.push_to(1, |ports| &mut ports.numbers, 20)?;
    check(harness.tick()?, || "the operator was not ready with a message on each edge".into())?;
    check_equal(all(&seen), vec![vec![10, 20, 30]])?;
    Ok(harness.stop()?)
}
