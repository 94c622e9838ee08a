//! Tests of an operator without a graph, and of its kernels. A harness takes the place of the graph.
//!
//! The operator is `Average` of the program `temporal_filter`. It keeps frames, has an optional input, and works on two streams.
//! `cargo test -p streamflow-examples --test an_operator` runs this file.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it found"
)]

use streamflow::message::Metadata;
use streamflow::prelude::*;
use streamflow::testing::{self, OperatorHarness, Tolerance, compare_bodies, explore};
use streamflow::time::Timestamp;
use streamflow_examples::temporal::{Average, TOLERANCE, pattern_on_host, reference, share};

const SHAPE: [usize; 2] = [3, 5];

/// Returns the frame with this number, on the device. The Rust body of the kernel `pattern` is called as an ordinary function.
fn frame(platform: &Platform, number: u32) -> Result<Tensor<f32>> {
    let mut values = [0.0; SHAPE[0] * SHAPE[1]];
    pattern_on_host(&mut values, number);
    Ok(platform.upload(&values)?.reshape(SHAPE)?)
}

/// Pushes the messages of a tick, lets the operator tick, and compares its output with the reference in `f64`.
fn tick(
    platform: &Platform,
    harness: &mut OperatorHarness<Average>,
    number: u64,
    weight: f32,
) -> Result<()> {
    let mut metadata = Metadata::default();
    metadata.set_acquired(Timestamp(10 * number));
    harness.push_with(|ports| &mut ports.frame, frame(platform, number as u32)?, metadata)?;
    harness.push(|ports| &mut ports.canvas, frame(platform, number as u32)?)?;
    assert!(harness.tick()?, "it has all messages, and did not tick");
    let emitted = harness.take(|ports| &mut ports.filtered).expect("it emits in each tick");
    assert_eq!(emitted.metadata.acquired(), Some(Timestamp(10 * number)));
    assert_eq!(emitted.message.weight, weight);
    let found = platform.download(&emitted.message.image, harness.stream())?;
    let expected = reference(SHAPE[0] * SHAPE[1], number, weight);
    for (found, expected) in found.wait_blocking()?.iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() <= TOLERANCE, "{found}, not {expected}");
    }
    Ok(())
}

/// A test body is a function of a platform, so that [`explore`] can run it under many seeds.
fn mixes_frames(platform: &Platform) -> Result<()> {
    let mut harness = OperatorHarness::new(platform, Average::new())?;
    for number in 0..3 {
        tick(platform, &mut harness, number, 0.0)?;
    }
    // The optional input gets a message now. The weight stays the same in later ticks without a message.
    harness.push(|ports| &mut ports.weight, 0.75)?;
    for number in 3..7 {
        tick(platform, &mut harness, number, 0.75)?;
    }
    Ok(harness.stop()?)
}

#[test]
fn it_mixes_each_frame_with_the_mean_of_the_last_under_every_seed() -> Result<()> {
    Ok(explore(mixes_frames)?)
}

#[test]
fn it_waits_for_both_required_messages() -> Result<()> {
    let platform = Platform::builder().host()?;
    let mut harness = OperatorHarness::new(&platform, Average::new())?;
    assert!(!harness.tick()?, "it ticked without a message");
    harness.push(|ports| &mut ports.frame, frame(&platform, 0)?)?;
    assert!(!harness.tick()?, "it ticked without a canvas");
    harness.push(|ports| &mut ports.canvas, frame(&platform, 0)?)?;
    assert!(harness.tick()?);
    Ok(harness.stop()?)
}

/// The error that the harness returns is the one that a graph would return: it names the kernel and both lengths.
#[test]
fn frames_of_two_sizes_are_an_error() -> Result<()> {
    let platform = Platform::builder().host()?;
    let mut harness = OperatorHarness::new(&platform, Average::new())?;
    harness.push(|ports| &mut ports.frame, frame(&platform, 0)?)?;
    harness.push(|ports| &mut ports.canvas, platform.upload(&[0.0; 7])?)?;
    let error = harness.tick().expect_err("the lengths differ");
    assert!(matches!(error, Error::Operator { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("`share`") && text.contains('7') && text.contains("15"), "{text}");
    Ok(())
}

/// This test needs NVRTC, and no GPU. The outcome has the names of the kernels, or says that they were skipped.
#[test]
fn its_kernels_compile() -> Result<()> {
    println!("{}", testing::kernels()?);
    Ok(())
}

/// Runs the Rust body and the CUDA body on the same input. This test needs a GPU.
#[test]
fn the_two_bodies_of_its_kernel_agree() -> Result<()> {
    let outcome = compare_bodies::<share>(Tolerance::EXACT, |draw| {
        let n = draw.len(0..=5000);
        (n.into(), (vec![f32::NAN; n], draw.values(n, 0.0..=1.0), 0.25))
    })?;
    println!("{outcome}");
    Ok(())
}
