//! The examples as graphs, compared with their references on both platforms. The host runs ahead of the device.

use std::fmt;
use std::io::Cursor;
use std::sync::{Arc, OnceLock};

use streamflow::driver::Driver;
use streamflow::driver::host::{HostDriver, Policy};
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow_driver::driver::Call;
use streamflow_examples::deliver::{Deliver, Report};
use streamflow_examples::edges::{self, EdgesApp};
use streamflow_examples::png_io::{self, Image};
use streamflow_examples::seed_app;
use streamflow_examples::seed_graph::{CombineAndSum, CudaStreamApp, Source};
use streamflow_examples::temporal::{self, TemporalFilter};
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::random::Random;
use streamflow_tests::seen::{Seen, push_seen, report, take};
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_close};

/// The image is embedded, since the machine with the GPU has no source tree.
const ASTRONAUT: &[u8] = include_bytes!("../../examples/data/astronaut.png");

const IMAGES: [(u32, u32); 5] = [(1, 1), (1, 7), (5, 1), (17, 31), (67, 33)];

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("seed_graph_is_near_f64", seed_graph)
        .both("ticks_in_flight_keep_their_values", ticks_in_flight)
        .both("edges_of_random_images_are_near_f64", edges_of_random_images)
        .large(|suite| suite.both("edges_of_a_photograph_are_near_f64", edges_of_a_photograph))
        .both("temporal_filter_is_near_f64", temporal_filter)
        .plain("sources_run_ahead_of_a_waiting_sink::lazy", ahead_on_the_host)
        .cuda("sources_run_ahead_of_a_waiting_sink", |platform| ahead(platform.driver()))
}

/// Checks that there are `count` ticks, in order.
fn check_ticks<T: fmt::Debug>(seen: &[(u64, T)], count: u64) -> Result<(), Failed> {
    let ticks: Vec<u64> = seen.iter().map(|(tick, _)| *tick).collect();
    check(ticks.iter().copied().eq(0..count), || format!("ticks {ticks:?}, not 0..{count}"))
}

fn seed_graph(platform: &Platform) -> Result<(), Failed> {
    const COUNT: u64 = 5;
    for (rows, cols) in [(1, 1), (1, 2), (3, 5), (7, 1023), (128, 257), (65, 3)] {
        let expected = seed_app::reference(rows, cols);
        let tolerance = seed_app::tolerance(cols);
        for on_default in [false, true] {
            let (seen, report) = report();
            CudaStreamApp::new(platform, rows, cols, COUNT, on_default, report)?.run()?;
            let seen = take(&seen);
            check_ticks(&seen, COUNT)?;
            for (_, sums) in &seen {
                check_close(sums, &expected, |x| tolerance * x)?;
            }
        }
    }
    Ok(())
}

/// An operator that keeps its downloads, and reads none of them before the end.
#[operator]
struct KeepAll {
    #[input]
    tensor: &Tensor<f32>,
    kept: Vec<Download<f32>>,
}

impl Compute for KeepAll {
    fn compute(&mut self, io: KeepAllIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, stream) = io.tensor.receive().receive_cuda_stream(cx)?;
        self.kept.push(cx.download(tensor, &stream)?);
        Ok(())
    }
}

graph! {
    struct InFlight(rows: usize, cols: u32, count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);
        #[streams(STREAMS)] #[when(count(count))] let source1: Source = Source::new(rows, cols);
        #[streams(STREAMS)] #[when(count(count))] let source2: Source = Source::new(rows, cols);
        #[streams(STREAMS)] let combine: CombineAndSum = CombineAndSum::new();
        #[streams(STREAMS)] let rx: KeepAll = KeepAll::new(Vec::new());
        source1.image >> combine.in1;
        source2.image >> combine.in2;
        combine.out >> rx.tensor;
    }
}

/// Queues many ticks before the first result is read: recycled memory must not change the results of earlier
/// ticks.
fn ticks_in_flight(platform: &Platform) -> Result<(), Failed> {
    let (rows, cols) = (5, 301);
    let mut graph = InFlight::new(platform, rows, cols, 20)?;
    graph.run()?;
    let expected = seed_app::reference(rows, cols);
    let tolerance = seed_app::tolerance(cols);
    check(graph.rx().kept.len() == 20, || "not every tick arrived".into())?;
    for download in &graph.rx().kept {
        check_close(download.wait_blocking()?, &expected, |x| tolerance * x)?;
    }
    Ok(())
}

fn edges_of_random_images(platform: &Platform) -> Result<(), Failed> {
    let mut random = Random::new(2);
    for (width, height) in IMAGES {
        let rgb = random.bytes(3 * width as usize * height as usize);
        let image = Image { width, height, rgb };
        assert_edges(platform, &image, &edges::reference(&image), 4)?;
    }
    Ok(())
}

fn edges_of_a_photograph(platform: &Platform) -> Result<(), Failed> {
    // The expected values are computed once, since that is slow without optimisation, and they are the same for
    // every seed.
    static EXPECTED: OnceLock<Vec<f64>> = OnceLock::new();
    let image = png_io::decode(Cursor::new(ASTRONAUT))?;
    assert_edges(platform, &image, EXPECTED.get_or_init(|| edges::reference(&image)), 1)
}

fn assert_edges(
    platform: &Platform,
    image: &Image,
    expected: &[f64],
    repeat: u64,
) -> Result<(), Failed> {
    let (width, height) = (image.width, image.height);
    let (seen, report) = report();
    EdgesApp::new(platform, image, repeat, report)?.run()?;
    let seen = take(&seen);
    check_ticks(&seen, repeat)?;
    for (_, found) in seen {
        check_close(&found, expected, |_| edges::TOLERANCE)
            .map_err(|failed| Failed::msg(format!("{width}x{height}: {failed}")))?;
    }
    Ok(())
}

fn temporal_filter(platform: &Platform) -> Result<(), Failed> {
    const COUNT: u64 = 23;
    for (rows, cols) in [(1, 1), (3, 11), (67, 33)] {
        let seen = Seen::default();
        let noted = seen.clone();
        let report = Box::new(move |tick, weight, values: &[f32]| {
            push_seen(&noted, (tick, (weight, values.to_vec())));
            Ok(())
        });
        let mut graph = TemporalFilter::new(platform, rows, cols, COUNT, report)?;
        // Each run starts without a frame or a weight of the run before.
        for workers in [Workers::none(), Workers::none(), Workers::new(2), Workers::new(2)] {
            let is_exact = workers == Workers::none();
            graph.workers(workers)?.run()?;
            let seen = take(&seen);
            check_ticks(&seen, COUNT)?;
            let mut expected_weight = 0.0;
            let mut weights = (0..COUNT).filter_map(|n| Some((n, temporal::weight_of(n)?)));
            for (tick, (weight, found)) in seen {
                // With workers, the weights arrive in their order, each at most one frame too early.
                while !is_exact && weight != expected_weight {
                    let next = weights.next().filter(|(number, _)| *number <= tick + 1);
                    let Some((_, next)) = next else { break };
                    expected_weight = next;
                }
                if is_exact {
                    expected_weight = temporal::weight_of(tick).unwrap_or(expected_weight);
                }
                check(weight == expected_weight, || {
                    format!("tick {tick}: weight {weight}, not {expected_weight}")
                })?;
                let expected = temporal::reference(rows * cols, tick, weight);
                check_close(&found, &expected, |_| temporal::TOLERANCE)?;
            }
        }
    }
    Ok(())
}

/// The length of a slow kernel in cycles, about 2 ms on a GPU.
const CYCLES: u64 = 3_000_000;

#[operator(streams(fill))]
struct SlowSource {
    #[output]
    image: Tensor<f32>,
}

impl Compute for SlowSource {
    fn compute(&mut self, io: SlowSourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([100], &stream)?;
        stream.launch::<slow_fill>(image.len(), (&mut image, cx.tick() as f32, CYCLES))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

#[operator]
struct SlowCopy {
    #[input]
    image: &Tensor<f32>,
    #[output]
    copy: Tensor<f32>,
}

impl Compute for SlowCopy {
    fn compute(&mut self, io: SlowCopyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut copy = cx.tensor(image.shape(), &stream)?;
        stream.launch::<slow_copy>(copy.len(), (&mut copy, image, CYCLES))?;
        io.copy.emit(copy)
    }
}

graph! {
    struct Slow(count: u64, report: Report<f32>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);
        #[streams(STREAMS)] #[when(count(count))] let source: SlowSource = SlowSource::new();
        #[streams(STREAMS)] let middle: SlowCopy = SlowCopy::new();
        #[streams(STREAMS)] #[when(stream_done(tensor))]
        let sink: Deliver<f32> = Deliver::new(report);
        source.image >> middle.image;
        middle.copy >> sink.tensor;
    }
}

/// Runs under the simulator's lazy policy, in which work is executed as late as possible.
fn ahead_on_the_host() -> Result<(), Failed> {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::builder().policy(Policy::Lazy).build());
    ahead(&driver)
}

/// Checks that the source of tick n + 1 queues its work while the sink waits for the stream of tick n.
fn ahead(driver: &Arc<dyn Driver>) -> Result<(), Failed> {
    const COUNT: u64 = 6;
    let (recorder, platform) = recorded(driver.clone())?;
    // Loads the kernels first, since loading takes long and waits for all work.
    Slow::new(&platform, 1, Box::new(|_, _| Ok(())))?.run()?;
    recorder.clear();
    let (seen, report) = report();
    Slow::new(&platform, COUNT, report)?.run()?;
    let seen = take(&seen);
    check_ticks(&seen, COUNT)?;
    for (tick, values) in &seen {
        check(values.iter().all(|&x| x == *tick as f32), || format!("tick {tick}: {values:?}"))?;
    }
    let calls = recorder.calls();
    let places = |wanted: fn(&Call) -> bool| -> Vec<usize> {
        calls.iter().enumerate().filter(|(_, call)| wanted(call)).map(|(place, _)| place).collect()
    };
    let sources =
        places(|call| matches!(call, Call::Launch { kernel, .. } if kernel.contains("slow_fill")));
    let sinks = places(|call| matches!(call, Call::Copy { .. }));
    check(sources.len() == COUNT as usize && sinks.len() == COUNT as usize, || {
        format!("{} sources and {} sinks ran, not {COUNT} each", sources.len(), sinks.len())
    })?;
    for (tick, (next, sink)) in sources[1..].iter().zip(&sinks).enumerate() {
        check(next < sink, || {
            format!(
                "the sink of tick {tick} ran before the source of the next:\n{}",
                recorder.text()
            )
        })?;
    }
    Ok(())
}
