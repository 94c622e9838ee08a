//! The graphs of two examples, made of graphs: their results and their calls of the driver are those of the flat graphs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use streamflow::memory::Complex;
use streamflow::operators::Convolve2d;
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow_examples::deliver::{Deliver, Report};
use streamflow_examples::edges::EdgesApp;
use streamflow_examples::edges::graph::{Grey, Magnitude, Photograph, SobelX, SobelY};
use streamflow_examples::png_io::Image;
use streamflow_examples::radar::{
    Antenna, Average, CODE, Compress, Detect, Disk, PULSES, Radar, SAMPLES, THRESHOLD, over_pulses,
};
use streamflow_math::operators::Fft;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::calls_of;

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("edges_of_graphs_make_the_calls_of_the_flat_graph", edges)
        .values(|suite| suite.both("a_radar_of_graphs_makes_the_calls_of_the_flat_graph", radar))
}

const BLUR: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

graph! {
    /// Converts a photograph to brightness, and blurs it.
    struct Blur {
        input rgb: &Tensor<u8>;
        output image: Tensor<f32>;
        let grey: Grey = Grey::new();
        let rows: Convolve2d = Convolve2d::new(BLUR, [1, 5])?;
        let columns: Convolve2d = Convolve2d::new(BLUR, [5, 1])?;
        rgb >> grey.rgb;
        grey.image >> rows.image;
        rows.convolved >> columns.image;
        columns.convolved >> image;
    }
}

graph! {
    /// The length of the gradient.
    struct Gradient {
        input image: &Tensor<f32>;
        output edges: Tensor<u8>;
        let sobel_x: SobelX = SobelX::new();
        let sobel_y: SobelY = SobelY::new();
        let magnitude: Magnitude = Magnitude::new();
        image >> (sobel_x.image, sobel_y.image);
        sobel_x.gradient >> magnitude.x;
        sobel_y.gradient >> magnitude.y;
        magnitude.edges >> edges;
    }
}

graph! {
    struct NestedEdges(image: &Image, repeat: u64, report: Report<u8>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4).reserved_size(4);
        #[streams(STREAMS)] #[when(count(repeat))]
        let photograph: Photograph = Photograph::new(platform, image)?;
        #[streams(none)]
        let blur: Blur = Blur::new();
        #[streams(STREAMS)]
        let gradient: Gradient = Gradient::new();
        #[streams(none)]
        let rx: Deliver<u8> = Deliver::new(report);
        photograph.rgb >> blur.rgb;
        blur.image >> gradient.image;
        gradient.edges >> rx.tensor;
    }
}

/// A callback that keeps what it gets, and what it has kept.
fn kept<T: Copy + Send + 'static>() -> (Arc<Mutex<Vec<T>>>, Report<T>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let into = kept.clone();
    let report = move |_, values: &[T]| {
        into.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(values);
        Ok(())
    };
    (kept, Box::new(report))
}

fn taken<T: Clone>(kept: &Mutex<Vec<T>>) -> Vec<T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn edges(platform: &Platform) -> Result<(), Failed> {
    let (width, height) = (24_u32, 16_u32);
    // A bright square on a dark ground.
    let bright = |at: u32| (4..12).contains(&(at % width)) && (4..12).contains(&(at / width));
    let rgb = (0..width * height).flat_map(|at| [if bright(at) { 250 } else { 10 }; 3]).collect();
    let image = Image { width, height, rgb };
    let (flat, in_flat) = kept();
    let (nested, in_nested) = kept();
    let (mut in_flat, mut in_nested) = (Some(in_flat), Some(in_nested));
    let quiet = || -> Report<u8> { Box::new(|_, _| Ok(())) };
    let of_flat = calls_of(platform, |platform| {
        let report = in_flat.take().unwrap_or_else(quiet);
        Ok(EdgesApp::new(platform, &image, 2, report)?.run().map(drop)?)
    })?;
    let of_nested = calls_of(platform, |platform| {
        let report = in_nested.take().unwrap_or_else(quiet);
        Ok(NestedEdges::new(platform, &image, 2, report)?.run().map(drop)?)
    })?;
    check(taken(&flat).iter().any(|edge| *edge > 0), || "no edge was found".to_owned())?;
    check(taken(&flat) == taken(&nested), || "the edges differ".to_owned())?;
    check_equal(of_nested, of_flat)
}

graph! {
    /// The average of the maps of range and speed.
    struct Maps(code: Vec<f32>) {
        input echoes: &Tensor<Complex<f32>>;
        output map: Tensor<f32>;
        #[streams(none)]
        let compress: Compress = Compress::new(platform.upload(&code)?);
        let doppler: Fft<f32> = Fft::forward(over_pulses());
        #[streams(none)]
        let average: Average = Average::new(platform.upload(&[0.0; PULSES * SAMPLES])?);
        echoes >> compress.echoes;
        compress.ranges >> doppler.signal;
        doppler.spectrum >> average.cells;
        average.average >> map;
    }
}

graph! {
    struct NestedRadar(count: u64, interval: Duration, show: Report<u8>, write: Report<f32>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);
        #[streams(STREAMS)] #[when(count(count), periodic(interval))]
        let antenna: Antenna = Antenna::new(platform)?;
        #[streams(STREAMS)]
        let maps: Maps = Maps::new(CODE.to_vec());
        #[streams(none)]
        let detect: Detect = Detect::new(THRESHOLD);
        #[streams(STREAMS)]
        let show: Deliver<u8> = Deliver::new(show);
        #[streams(STREAMS)]
        let disk: Disk = Disk::new(write);
        antenna.echoes >> maps.echoes;
        maps.map >> detect.map;
        detect.found >> show.tensor;
        #[policy(pop)]
        maps.map >> disk.map;
    }
}

fn radar(platform: &Platform) -> Result<(), Failed> {
    let interval = Duration::from_millis(1);
    let (flat, in_flat) = kept();
    let (nested, in_nested) = kept();
    let (mut in_flat, mut in_nested) = (Some(in_flat), Some(in_nested));
    let quiet = || -> Report<u8> { Box::new(|_, _| Ok(())) };
    let of_flat = calls_of(platform, |platform| {
        let report = in_flat.take().unwrap_or_else(quiet);
        let mut graph = Radar::new(platform, &CODE, 3, interval, report, Box::new(|_, _| Ok(())))?;
        // The disk is on this thread, too, so the calls have one order.
        graph.workers(Workers::none())?;
        Ok(graph.run().map(drop)?)
    })?;
    let of_nested = calls_of(platform, |platform| {
        let report = in_nested.take().unwrap_or_else(quiet);
        let mut graph = NestedRadar::new(platform, 3, interval, report, Box::new(|_, _| Ok(())))?;
        graph.workers(Workers::none())?;
        Ok(graph.run().map(drop)?)
    })?;
    check(taken(&flat).contains(&1), || "no target was found".to_owned())?;
    check(taken(&flat) == taken(&nested), || "the targets differ".to_owned())?;
    // When a result is there depends on the device, and so does the wait for it.
    let on_streams = |calls: Vec<String>| -> Vec<String> {
        calls.into_iter().filter(|call| !call.starts_with("synchronize")).collect()
    };
    check_equal(on_streams(of_nested), on_streams(of_flat))
}
