//! A pulse-Doppler radar of 16 channels that finds its targets in the mean of the last maps.
//!
//! All work on the device is in one chain of nodes. The disk is at the end of a separate branch, which runs on a separate thread:
//! the slow disk holds no other node up, and gets the newest map.

mod antenna;
mod kernels;
pub mod picture;
mod reference;

use std::time::Duration;

pub use antenna::{Antenna, TARGETS, Target, listen, score};
pub use kernels::{average, cfar, compress};
pub use reference::{TOLERANCE, detections, power};
use streamflow::memory::Complex;
use streamflow::message::Metadata;
use streamflow::prelude::*;
use streamflow_math::fft::{self, Layout};
use streamflow_math::operators::Fft;

use crate::deliver::{Deliver, Report};

/// The number of receivers.
pub const CHANNELS: usize = 16;

/// The number of pulses in a tick, and of Doppler cells: the rows of a map.
pub const PULSES: usize = 32;

/// The number of samples after each pulse, and of range cells: the columns of a map.
pub const SAMPLES: usize = 256;

/// The samples per second. An echo that arrives one sample later comes from one range cell, 15 m, farther away.
pub const SAMPLE_RATE: f64 = 10e6;

/// The pulses per second.
pub const PULSE_RATE: f64 = 20e3;

/// The frequency of the carrier, in Hz.
pub const CARRIER: f64 = 10e9;

/// The modulation of a pulse: Barker's code of 13 chips. Its correlation with itself is 13 without a shift, and else at most 1.
pub const CODE: [f32; 13] = [1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0];

/// The number of maps in the running average.
pub const MAPS: u64 = 16;

/// How many cells beside a cell may have power of the cell's own echo.
pub const GUARD: usize = 4;

/// How many cells on each side are used to measure the noise around a cell.
pub const TRAINING: usize = 8;

/// The threshold with which each map has all targets and no false one.
pub const THRESHOLD: f32 = 3.0;

/// Correlates the samples after each pulse with the code: an echo, which is as long as the code, becomes one sample.
#[operator]
pub struct Compress {
    /// The samples, with the dimensions channels, pulses and samples of a pulse.
    #[input]
    echoes: &Tensor<Complex<f32>>,
    /// The echoes by range, with the dimensions pulses, channels and range cells.
    #[output]
    ranges: Tensor<Complex<f32>>,
    code: Tensor<f32>,
}

impl Compute for Compress {
    fn compute(&mut self, io: CompressIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (echoes, stream) = io.echoes.receive().receive_cuda_stream(cx)?;
        let mut ranges = cx.tensor([PULSES, CHANNELS, SAMPLES], &stream)?;
        stream
            .launch::<compress>(echoes.len(), (&mut ranges, echoes, &self.code, SAMPLES, PULSES))?;
        io.ranges.emit(ranges)
    }
}

/// Returns the plan of Fourier transforms over the pulses. The transforms separate echoes by the speed of their targets.
pub fn over_pulses() -> fft::Planner<fft::Fft<f32>> {
    let layout = Layout::embedded([PULSES]).stride(CHANNELS * SAMPLES).distance(1);
    fft::Fft::plan(PULSES).batch(CHANNELS * SAMPLES).input(layout).output(layout)
}

/// Adds the power of all channels, and emits the running average. The average stays on the device.
#[operator]
pub struct Average {
    /// The transformed pulses, with the dimensions Doppler cells, channels and range cells.
    #[input]
    cells: &Tensor<Complex<f32>>,
    /// The map, with the dimensions Doppler cells and range cells.
    #[output]
    average: Tensor<f32>,
    mean: Tensor<f32>,
}

impl Compute for Average {
    fn compute(&mut self, io: AverageIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (cells, stream) = io.cells.receive().receive_cuda_stream(cx)?;
        let mut map = cx.tensor([PULSES, SAMPLES], &stream)?;
        let weight = 1.0 / (cx.tick() + 1).min(MAPS) as f32;
        stream.launch::<average>(map.len(), (&mut self.mean, &mut map, cells, SAMPLES, weight))?;
        io.average.emit(map)
    }
}

/// Finds cells with more power than the cells around them.
#[operator]
pub struct Detect {
    /// The map, with the dimensions Doppler cells and range cells.
    #[input]
    map: &Tensor<f32>,
    /// 1 for each cell with a target, else 0.
    #[output]
    found: Tensor<u8>,
    /// How many times the power of the noise a target must have.
    #[param(range = 1.0..)]
    threshold: f32,
}

impl Compute for Detect {
    fn compute(&mut self, io: DetectIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (map, stream) = io.map.receive().receive_cuda_stream(cx)?;
        let mut found = cx.tensor(map.shape(), &stream)?;
        stream.launch::<cfar>(
            map.len(),
            (&mut found, map, SAMPLES, GUARD, TRAINING, self.threshold),
        )?;
        io.found.emit(found)
    }
}

/// Writes maps to the disk, each with its number. A disk is slow, so not every map is written.
#[operator]
pub struct Disk {
    /// The map, with the dimensions Doppler cells and range cells.
    #[input]
    map: &Tensor<f32>,
    write: Report<f32>,
}

impl Compute for Disk {
    fn compute(&mut self, io: DiskIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let map = io.map.receive();
        // The ticks of the disk are not those of the antenna, since maps may have been dropped. So the sequence number is used.
        let number = map.metadata().and_then(Metadata::sequence).unwrap_or_default();
        let (map, stream) = map.receive_cuda_stream(cx)?;
        (self.write)(number, cx.download(map, &stream)?.wait_blocking()?)
    }
}

graph! {
    /// Finds the targets `count` times, once in each `interval`. `code` compresses the pulses. `show` gets the targets
    /// found in each tick, and `write` the maps that it has time for.
    pub struct Radar(code: &[f32], count: u64, interval: Duration, show: Report<u8>, write: Report<f32>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);

        #[streams(STREAMS)] #[when(count(count), periodic(interval))]
        let antenna: Antenna = Antenna::new(platform)?;
        #[streams(none)]
        let compress: Compress = Compress::new(platform.upload(code)?);
        #[streams(STREAMS)]
        let doppler: Fft<f32> = Fft::forward(over_pulses());
        #[streams(none)]
        let average: Average = Average::new(platform.upload(&[0.0; PULSES * SAMPLES])?);
        #[streams(none)]
        let detect: Detect = Detect::new(THRESHOLD);
        #[streams(STREAMS)]
        let show: Deliver<u8> = Deliver::new(show);
        #[streams(STREAMS)] #[worker(disk)]
        let disk: Disk = Disk::new(write);

        antenna.echoes >> compress.echoes;
        compress.ranges >> doppler.signal;
        doppler.spectrum >> average.cells;
        average.average >> detect.map;
        detect.found >> show.tensor;
        #[policy(pop)]
        average.average >> disk.map;
    }
}
