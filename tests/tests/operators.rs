//! The code of `#[operator]` and `#[derive(Message)]`, used through `OperatorHarness`.

mod acquired;
mod messages;
mod sequence;

use streamflow::__private::{PortInfo, PortSize};
use streamflow::f16;
use streamflow::operator::Operator;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::operators::{
    Apply, Delay, InPlace, Names, OfMacro, Pack, Pair, Pass, Source, Trigger, Unpack,
};
use streamflow_tests::setup::uploaded;
use streamflow_tests::{Failed, Suite, check, check_equal};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .plain("constants_describe_ports_and_streams", constants)
        .plain("operators_and_messages_may_be_defined_in_a_function", inside_of_a_function)
        .both("a_source_sends_on_its_chosen_stream", source)
        .both("an_emitted_tensor_is_downloaded_with_its_shape", emitted)
        .both("a_taken_message_is_changed_in_place", in_place)
        .both("a_shared_message_can_be_kept_for_the_next_tick", delay)
        .both("keywords_are_valid_names_of_ports_with_host_data", names)
        .both("a_generic_operator_may_have_an_optional_input", apply)
        .both("messages_may_be_generic", pass)
        .both("a_message_may_have_several_fields", several_fields)
        .both("metadata_can_be_read_and_changed", messages::metadata)
        .both("a_push_can_select_one_of_several_edges", messages::edges)
        .seeded("a_message_is_as_old_as_the_first_emit_of_its_tick", acquired::first_emit)
        .both("a_sequence_number_survives_a_diamond_whose_branches_differ", sequence::diamond)
        .both("a_sequence_number_survives_an_optional_input", sequence::optional)
        .both("of_many_messages_the_earliest_gives_the_sequence_number", sequence::many)
        .devices("copies_and_transfers_keep_the_sequence_number", 2, sequence::copies)
        .both("feedback_does_not_pass_on_a_sequence_number", sequence::feedback)
}

fn names_of(ports: &[PortInfo]) -> Vec<&str> {
    ports.iter().map(|port| port.name).collect()
}

fn constants() -> Result<(), Failed> {
    check_equal(Source::NAME, "Source")?;
    check_equal(Source::STREAM_NAMES, &["fill", "spare"])?;
    check_equal(Source::STREAMS, 2)?;
    check_equal(Source::INPUTS, &[])?;
    check_equal(
        Source::OUTPUTS,
        &[PortInfo {
            name: "image",
            optional: false,
            size: PortSize::One,
            length: None,
            device: true,
            downloads: false,
            ty: "Tensor<f32>",
            doc: "The tensor, `a | b`.\nEach tick has another value.\n\nMore text, which is not in \
                  the table.",
        }],
    )?;
    check_equal(names_of(InPlace::INPUTS), vec!["data", "added"])?;
    check_equal(InPlace::INPUTS[1].ty, "&streamflow::Tensor<f32>")?;
    check_equal(InPlace::STREAMS, 1)?;
    check_equal(Delay::STREAMS, 1)?;
    check_equal(names_of(Names::INPUTS), vec!["io", "ports", "in_1", "in1"])?;
    check_equal(names_of(Names::OUTPUTS), vec!["type", "streams"])?;
    check_equal(
        Names::INPUTS.iter().map(|port| port.optional).collect(),
        vec![false, false, false, true],
    )?;
    let devices = |ports: &[PortInfo]| ports.iter().map(|port| port.device).collect::<Vec<_>>();
    check_equal(devices(Names::INPUTS), vec![false; 4])?;
    check_equal(devices(InPlace::INPUTS), vec![true; 2])?;
    check_equal(devices(Pass::<u64>::INPUTS), vec![false, true])?;
    check_equal(devices(Pass::<Tensor<u8>>::OUTPUTS), vec![true, false])?;
    // A download of device data counts as host data.
    check_equal(devices(Unpack::OUTPUTS), vec![false])?;
    check_equal(Names::STREAMS, 0)?;
    // `Pass` has a stream of its own, and the internal stream, since one of its inputs carries device data.
    check_equal(Pass::<u64>::STREAMS, 2)?;
    check_equal(Pass::<u64>::NAME, "Pass")?;
    check_equal(Pack::STREAMS, 1)?;
    check_equal(OfMacro::INPUTS[0].ty, "&Vec<String>")
}

fn inside_of_a_function() -> Result<(), Failed> {
    #[derive(Message)]
    struct Local {
        #[allow(dead_code, reason = "only its type is used")]
        number: u8,
    }

    #[operator]
    struct Inner {
        #[input(optional)]
        x: Local,
        text: String,
    }

    impl Compute for Inner {
        fn compute(&mut self, io: InnerIo<'_>, _: &ExecutionContext) -> Result<()> {
            io.x.discard();
            Ok(())
        }
    }

    check_equal(Inner::new("a".into()).text, "a".into())?;
    check_equal(Inner::INPUTS.len(), 1)
}

fn source(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Source::new(3, false))?;
    for tick in 0..3 {
        check(harness.tick()?, || "the source was not ready".into())?;
        let emitted =
            harness.take(|ports| &mut ports.image).ok_or(Failed::msg("no message was emitted"))?;
        check(emitted.sent.is_some(), || "the message has no point".into())?;
        check_equal(harness.stream().download_blocking(&emitted.message)?, vec![tick as f32; 3])?;
    }
    Ok(harness.stop()?)
}

/// Checks that the message which `take` returns is shared, and can be downloaded unchanged.
fn emitted(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Delay::new(None))?;
    for first in [0.0, 10.0] {
        let image = uploaded(platform, &[first, 1.0, 2.0, 3.0, 4.0, 5.0], harness.stream())?;
        harness.push(|ports| &mut ports.now, image.reshape([2, 3])?)?;
        check(harness.tick()?, || "the operator was not ready".into())?;
    }
    let emitted =
        harness.take(|ports| &mut ports.before).ok_or(Failed::msg("no message was emitted"))?;
    let download = platform.download(&emitted.message, harness.stream())?;
    check_equal(download.shape(), &[2, 3])?;
    check_equal(download.wait_blocking()?, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?;
    Ok(harness.stop()?)
}

fn in_place(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, InPlace::new())?;
    check(!harness.tick()?, || "the operator ran without a message".into())?;
    let (data, added) = (
        uploaded(platform, &[1.0, 2.0], harness.stream())?,
        uploaded(platform, &[10.0, 20.0], harness.stream())?,
    );
    harness.push(|ports| &mut ports.data, data)?;
    check(!harness.tick()?, || "the operator ran with a message missing".into())?;
    harness.push(|ports| &mut ports.added, added)?;
    check(harness.tick()?, || "the operator was not ready".into())?;
    let sum = harness.take(|ports| &mut ports.out).ok_or(Failed::msg("no message was emitted"))?;
    check_equal(harness.stream().download_blocking(&sum.message)?, vec![12.0, 23.0])?;
    Ok(harness.stop()?)
}

fn delay(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Delay::new(None))?;
    for tick in 0..3 {
        let now = uploaded(platform, &[tick as f32], harness.stream())?;
        harness.push(|ports| &mut ports.now, now)?;
        check(harness.tick()?, || "the operator was not ready".into())?;
        let before = harness.take(|ports| &mut ports.before);
        match before {
            None => check_equal(tick, 0)?,
            Some(before) => {
                let found = harness.stream().download_blocking(&before.message)?;
                check_equal(found, vec![tick as f32 - 1.0])?;
            }
        }
    }
    Ok(harness.stop()?)
}

fn names(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Names::new())?;
    for shared in [None, Some(1000)] {
        harness.push(|ports| &mut ports.io, 1)?;
        harness.push(|ports| &mut ports.ports, 10)?;
        harness.push(|ports| &mut ports.in_1, 100)?;
        if let Some(shared) = shared {
            harness.push(|ports| &mut ports.in1, shared)?;
        }
        check(harness.tick()?, || "the operator was not ready".into())?;
        let sum = harness.take(|ports| &mut ports.r#type).map(|emitted| *emitted.message);
        check_equal(sum, Some(111))?;
        let sum = harness.take(|ports| &mut ports.streams).map(|emitted| *emitted.message);
        check_equal(sum, shared.map(|shared| shared + 11))?;
    }
    Ok(harness.stop()?)
}

fn apply(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Apply::<_, 2>::new(|x| x * 2.0))?;
    harness.push(|ports| &mut ports.x, HostData([1.0, 2.0]))?;
    check(harness.tick()?, || "the operator was not ready".into())?;
    let y = harness.take(|ports| &mut ports.y).map(|emitted| emitted.message.0);
    check_equal(y, Some([2.0, 4.0]))?;
    Ok(harness.stop()?)
}

fn pass(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Pass::<String, f16>::by_hand())?;
    let other = uploaded(platform, &[f16::ONE; 5], harness.stream())?;
    harness.push(|ports| &mut ports.one, "text".into())?;
    harness.push(|ports| &mut ports.other, other)?;
    check(harness.tick()?, || "the operator was not ready".into())?;
    let len = harness.take(|ports| &mut ports.len).map(|emitted| *emitted.message);
    check_equal(len, Some(5))?;
    let out = harness.take(|ports| &mut ports.out).ok_or(Failed::msg("no message was emitted"))?;
    let Pair(text, number) = &*out.message;
    check_equal((text.as_str(), *number), ("text", 7))?;
    check(out.sent.is_none(), || "host data has a point".into())?;
    Ok(harness.stop()?)
}

fn several_fields(platform: &Platform) -> Result<(), Failed> {
    let mut pack = OperatorHarness::new(platform, Pack::new())?;
    let (boxes, scores) = (
        uploaded(platform, &[1, 2], pack.stream())?,
        uploaded(platform, &[0.5, 0.25], pack.stream())?,
    );
    pack.push(|ports| &mut ports.boxes, boxes)?;
    pack.push(|ports| &mut ports.scores, scores)?;
    pack.push(|ports| &mut ports.when, Trigger)?;
    check(pack.tick()?, || "the operator was not ready".into())?;
    let packed =
        pack.take(|ports| &mut ports.packed).ok_or(Failed::msg("no message was emitted"))?;
    check(packed.sent.is_some(), || "device data has no point".into())?;
    let packed = packed.message.try_unwrap().map_err(|_| Failed::msg("another owner"))?;

    let mut unpack = OperatorHarness::new(platform, Unpack::new())?;
    unpack.push(|ports| &mut ports.packed, packed)?;
    check(unpack.tick()?, || "the operator was not ready".into())?;
    let scores =
        unpack.take(|ports| &mut ports.scores).ok_or(Failed::msg("no message was emitted"))?;
    check_equal(scores.message.wait_blocking()?, &[0.5, 0.25])?;
    pack.stop()?;
    Ok(unpack.stop()?)
}
