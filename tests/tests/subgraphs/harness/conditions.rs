//! Times, numbers and conditions of a graph in a harness.

use streamflow::message::{Metadata, Value};
use streamflow::prelude::*;
use streamflow::testing::GraphHarness;
use streamflow_tests::setup::uploaded;
use streamflow_tests::stereo::Invert;
use streamflow_tests::{Failed, check, check_equal};

use super::super::{Count, Listed, Plus, Thread};
use super::{ran, taken, waits};

pub(super) fn metadata(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Listed::new())?;
    for n in [10, 11] {
        harness.push(|ports| &mut ports.n, n)?;
    }
    let mut numbered = Metadata::default();
    numbered.set_sequence(77);
    numbered.set("gain", 0.5);
    harness.push_with(|ports| &mut ports.n, 12, numbered)?;
    for sequence in [0, 1, 77] {
        ran(harness.tick()?)?;
        let metadata = taken!(harness, out)?.metadata;
        check_equal((metadata.sequence(), metadata.acquired().is_some()), (Some(sequence), true))?;
        let gain = metadata.get("gain").and_then(Value::as_float);
        check_equal(gain, (sequence == 77).then_some(0.5))?;
    }
    // The next run counts from 0.
    harness.stop()?;
    harness.push(|ports| &mut ports.n, 13)?;
    ran(harness.tick()?)?;
    check_equal(taken!(harness, out)?.metadata.sequence(), Some(0))?;
    Ok(harness.stop()?)
}

graph! {
    /// Adds what two nodes make of a number, and that of another input.
    struct Diamond {
        input n: &u64;
        input other: &u64;
        output sum: u64;
        let left: Thread = Thread::new(Vec::new());
        let right: Thread = Thread::new(Vec::new());
        #[when(same_sequence)]
        let both: Plus = Plus::new(0);
        #[when(same_sequence)]
        let with_other: Plus = Plus::new(0);
        n >> (left.n, right.n);
        left.out >> both.a;
        right.out >> both.b;
        both.sum >> with_other.a;
        other >> with_other.b;
        with_other.sum >> sum;
    }
}

/// Checks that messages of one push belong together, and those of two inputs by their numbers.
pub(super) fn branches(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Diamond::new())?;
    for n in [1, 2, 3] {
        harness.push(|ports| &mut ports.n, n)?;
    }
    // The numbers of these are 0 and 2, so that the sum with number 1 is alone.
    harness.push(|ports| &mut ports.other, 100)?;
    let mut third = Metadata::default();
    third.set_sequence(2);
    harness.push_with(|ports| &mut ports.other, 300, third)?;
    while harness.tick()? {}
    check_equal([*taken!(harness, sum)?.message, *taken!(harness, sum)?.message], [102, 306])?;
    check(harness.take(|ports| &mut ports.sum).is_none(), || "a sum that was alone".into())?;
    Ok(harness.stop()?)
}

graph! {
    /// Adds numbers of a source of its own to two messages for each tick.
    struct Conditional {
        input n: &u64;
        output sum: u64;
        #[when(count(2))]
        let count: Count = Count::new();
        #[when(message_available(a, 2))]
        let plus: Plus = Plus::new(0);
        n >> plus.a;
        count.n >> plus.b;
        plus.sum >> sum;
    }
}

pub(super) fn conditions(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Conditional::new())?;
    // The source inside ticks, until its edge is full.
    ran(harness.tick()?)?;
    waits(harness.tick()?)?;
    harness.push(|ports| &mut ports.n, 10)?;
    waits(harness.tick()?)?;
    harness.push(|ports| &mut ports.n, 20)?;
    ran(harness.tick()?)?;
    check_equal(*taken!(harness, sum)?.message, 10)?;
    harness.push(|ports| &mut ports.n, 30)?;
    ran(harness.tick()?)?;
    check_equal(*taken!(harness, sum)?.message, 21)?;
    // The source has done its two ticks.
    harness.push(|ports| &mut ports.n, 40)?;
    waits(harness.tick()?)?;
    Ok(harness.stop()?)
}

graph! {
    /// Negates twice, the second time when the first stream is done.
    struct Done {
        input image: Tensor<f32>;
        output twice: Tensor<f32>;
        let one: Invert = Invert::new();
        #[when(stream_done(src))]
        let other: Invert = Invert::new();
        image >> one.src;
        one.dst >> other.src;
        other.dst >> twice;
    }
}

/// How many calls of `tick` the simulator or a GPU may need at the most until a stream is done.
const MANY: u32 = 100_000_000;

/// Runs a harness until an image comes out.
fn image_of(harness: &mut GraphHarness<Done>) -> Result<Vec<f32>> {
    for _ in 0..MANY {
        harness.tick()?;
        if let Some(emitted) = harness.take(|ports| &mut ports.twice) {
            return Ok(harness.stream().download_blocking(&emitted.message)?);
        }
    }
    Err(Failure::msg("the stream is never done"))
}

pub(super) fn stream_done(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Done::new())?;
    for first in [1.0, 2.0] {
        let image = uploaded(platform, &[first, 0.5], harness.stream())?;
        harness.push(|ports| &mut ports.image, image)?;
        check_equal(image_of(&mut harness)?, vec![first, 0.5])?;
    }
    Ok(harness.stop()?)
}
