//! `Inspect`, a sink for any message: it prints names, types, shapes, devices, streams and metadata, and no data.

use std::io::{self, Write};

use streamflow::f16;
use streamflow::message::{Metadata, Value};
use streamflow::operators::Inspect;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow::time::Timestamp;
use streamflow_driver::driver::Call;
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::Camera;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_message_of_several_fields_is_printed_with_its_attributes", fields)
        .both("named_values_of_the_metadata_are_printed", metadata)
        .both("host_data_is_printed_with_its_values", host_data)
        .both("a_message_on_the_default_stream_is_printed_as_such", on_default)
        .both("looking_at_a_message_makes_no_driver_call", no_calls)
        .both("a_writer_that_fails_ends_the_run", failing_writer)
}

/// A writer into a list that the test reads.
struct Lines(Seen<u8>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|byte| push_seen(&self.0, *byte));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn text(seen: &Seen<u8>) -> String {
    String::from_utf8_lossy(&take(seen)).into_owned()
}

#[derive(Debug, Message)]
struct Detections {
    boxes: Tensor<f32>,
    scores: Buffer<f16>,
    taken_at: Timestamp,
    label: String,
}

#[operator(streams(find))]
struct Detector {
    #[output]
    found: Detections,
}

impl Compute for Detector {
    fn compute(&mut self, io: DetectorIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.find)?;
        let (mut boxes, mut scores) = (cx.tensor([3, 4], &stream)?, cx.buffer(3, &stream)?);
        stream.fill_bytes(&mut boxes, 0)?;
        stream.fill_bytes(&mut scores, 0)?;
        let found = Detections { boxes, scores, taken_at: Timestamp(5), label: "cat".to_owned() };
        let out = io.found.acquired(Timestamp(7)).sequence(40 + cx.tick());
        out.set_cuda_stream(&stream).emit(found)
    }
}

graph! {
    struct Fields(lines: Lines) {
        #[when(count(2))]
        let detector: Detector = Detector::new();
        let look: Inspect<Detections> = Inspect::to(lines);
        detector.found >> look.message;
    }
}

fn fields(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    Fields::new(platform, Lines(seen.clone()))?.run()?;
    let tick = |tick: u64| {
        format!(
            "look, tick {tick}: message {}, acquired at 7 ns, on stream `detector.find` of device 0\n  \
             boxes: Tensor<float32> [3, 4] on device 0\n  \
             scores: Buffer<float16> [3] on device 0\n  \
             taken_at: Timestamp = Timestamp(5)\n  \
             label: String = \"cat\"\n",
            40 + tick
        )
    };
    check_equal(text(&seen), tick(0) + &tick(1))
}

fn metadata(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut look = OperatorHarness::new(platform, Inspect::to(Lines(seen.clone())))?;
    let mut metadata = Metadata::default();
    metadata.set("gain", Value::Float(2.5));
    metadata.set("lens", Value::Text("wide".into()));
    look.push_with(|ports| &mut ports.message, 3_u64, metadata)?;
    check(look.tick()?, || "the operator was not ready".into())?;
    let lines = "message\n  u64 = 3\n  metadata gain = 2.5\n  metadata lens = \"wide\"\n";
    check_text(&text(&seen), &[lines])
}

#[operator]
struct Numbers {
    #[output]
    number: u64,
    #[output]
    list: Vec<HostData<[u8; 2]>>,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.emit(9)?;
        io.list.emit(vec![HostData([1, 2]), HostData([3, 4])])
    }
}

graph! {
    struct OfHost(lines: Lines, list: Lines) {
        #[when(count(1))]
        let numbers: Numbers = Numbers::new();
        let look: Inspect<u64> = Inspect::to(lines);
        let look_at_list: Inspect<Vec<HostData<[u8; 2]>>> = Inspect::to(list);
        numbers.number >> look.message;
        numbers.list >> look_at_list.message;
    }
}

fn host_data(platform: &Platform) -> Result<(), Failed> {
    let (number, list) = (Seen::default(), Seen::default());
    OfHost::new(platform, Lines(number.clone()), Lines(list.clone()))?.run()?;
    let number = text(&number);
    check_text(&number, &["look, tick 0: message 0, acquired at ", "\n  u64 = 9\n"])?;
    check(!number.contains("stream"), || number.clone())?;
    check_text(&text(&list), &["\n  [0]: ", "HostData<[u8; 2]>", "\n  [1]: "])
}

graph! {
    struct OnDefault(lines: Lines) {
        let STREAMS = CudaStreamPool::new().use_default_stream(true);
        #[streams(STREAMS)] #[when(count(1))]
        let camera: Camera = Camera::new(5, 1);
        #[streams(STREAMS)]
        let look: Inspect<Tensor<u8>> = Inspect::to(lines);
        camera.frame >> look.message;
    }
}

fn on_default(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    OnDefault::new(platform, Lines(seen.clone()))?.run()?;
    check_text(&text(&seen), &[", on the default stream\n  Tensor<uint8> [5] on device 0\n"])
}

graph! {
    struct Pair(lines: Lines) {
        #[when(count(3))]
        let camera: Camera = Camera::new(5, 1);
        let look: Inspect<Tensor<u8>> = Inspect::to(lines);
        camera.frame >> look.message;
    }
}

/// Checks that `Inspect` allocates no stream, and that no stream waits for the camera's stream.
fn no_calls(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let mut graph = Pair::new(&platform, Lines(Seen::default()))?;
    recorder.clear();
    graph.run()?;
    let made = |call: &Call| matches!(call, Call::CreateStream { .. });
    check(recorder.count(made) <= 1, || recorder.text())?;
    let waits = |call: &Call| matches!(call, Call::WaitEvent { .. } | Call::Copy { .. });
    check_equal(recorder.count(waits), 0)
}

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is full"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

graph! {
    struct ToFullDisk {
        #[when(count(3))]
        let camera: Camera = Camera::new(5, 1);
        let look: Inspect<Tensor<u8>> = Inspect::to(Full);
        camera.frame >> look.message;
    }
}

fn failing_writer(platform: &Platform) -> Result<(), Failed> {
    let run = ToFullDisk::new(platform)?.run();
    let text = check_error("run", run, |error| {
        matches!(error, Error::Operator { .. } | Error::Run { .. })
    })?;
    check_text(&text, &["look", "the disk is full"])
}
