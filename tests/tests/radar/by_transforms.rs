//! The radar with pulses that are compressed by Fourier transforms. It must find the same targets.

use std::f64::consts::TAU;
use std::time::Duration;

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_examples::deliver::{Deliver, Report};
use streamflow_examples::radar::{Antenna, Average, CHANNELS, CODE, Detect, PULSES, SAMPLES};
use streamflow_math::Plan;
use streamflow_math::fft::{self, Layout, Norm};
use streamflow_math::operators::Fft;

/// The length of a line: the samples and as many zeros, so that no sample is multiplied with the code from the
/// line's other end.
const LINE: usize = 2 * SAMPLES;

/// Multiplies each line by a spectrum, element by element.
#[kernel(
    requires(spectrum.len() > 0, lines.len() % spectrum.len() == 0),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < lines_len) lines[i] = lines[i] * spectrum[i % spectrum_len];
"
)]
fn filter(lines: &mut [Complex<f32>], spectrum: &[Complex<f32>]) {
    for line in lines.chunks_exact_mut(spectrum.len()) {
        line.iter_mut().zip(spectrum).for_each(|(value, weight)| *value *= weight);
    }
}

/// Returns the factor that makes a product of spectra a correlation with the code: the conjugate spectrum of the
/// code.
fn spectrum_of_code() -> Vec<Complex<f32>> {
    let turn = |k: usize, at: usize| TAU * (k * at % LINE) as f64 / LINE as f64;
    let term = |k, (at, chip): (usize, &f32)| Complex::from_polar(f64::from(*chip), turn(k, at));
    let sum = |k| CODE.iter().enumerate().map(|chip| term(k, chip)).sum::<Complex<f64>>();
    (0..LINE).map(sum).map(|sum| Complex::new(sum.re as f32, sum.im as f32)).collect()
}

/// An operator that does what `Compress` does, by a product of spectra.
#[operator(no_new)]
pub(super) struct CompressByTransforms {
    /// The samples, with the dimensions channels, pulses, and samples of a pulse.
    #[input]
    echoes: &Tensor<Complex<f32>>,
    /// The echoes by range, with the dimensions pulses, channels, and range cells.
    #[output]
    ranges: Tensor<Complex<f32>>,
    spectrum: Tensor<Complex<f32>>,
    plan: Option<Plan<fft::Fft<f32>>>,
}

impl Compute for CompressByTransforms {
    fn start(&mut self, _: CompressByTransformsStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let lines = fft::Fft::plan(LINE).batch(CHANNELS * PULSES).norm(Norm::ByLength);
        self.plan = Some(lines.on(cx, &cx.internal_stream()?)?);
        Ok(())
    }

    fn compute(&mut self, io: CompressByTransformsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (echoes, stream) = io.echoes.receive().receive_cuda_stream(cx)?;
        let plan = self.plan.as_mut().ok_or_else(|| Failure::msg("`start` comes first"))?;
        let mut lines = cx.tensor([CHANNELS, PULSES, LINE], &stream)?;
        stream.fill_bytes(&mut lines, 0)?;
        let samples = lines.view_mut().slice(2, 0..SAMPLES);
        stream.copy(echoes, &mut samples.ok_or_else(no_part)?)?;
        plan.forward_in_place(&stream, &mut lines)?;
        stream.launch::<filter>(lines.len(), (&mut lines, &self.spectrum))?;
        plan.inverse_in_place(&stream, &mut lines)?;

        let lines = lines.reshape([CHANNELS * PULSES, LINE])?;
        let mut ranges = cx.tensor([PULSES, CHANNELS * SAMPLES], &stream)?;
        for channel in 0..CHANNELS {
            let (first, cell) = (channel * PULSES, channel * SAMPLES);
            let from = lines.view().slice(0, first..first + PULSES);
            let from = from.and_then(|pulses| pulses.slice(1, 0..SAMPLES));
            let to = ranges.view_mut().slice(1, cell..cell + SAMPLES);
            stream.copy(&from.ok_or_else(no_part)?, &mut to.ok_or_else(no_part)?)?;
        }
        io.ranges.emit(ranges.reshape([PULSES, CHANNELS, SAMPLES])?)
    }
}

fn no_part() -> Failure {
    Failure::msg("there is no such part")
}

fn over_pulses() -> fft::Planner<fft::Fft<f32>> {
    let layout = Layout::embedded([PULSES]).stride(CHANNELS * SAMPLES).distance(1);
    fft::Fft::plan(PULSES).batch(CHANNELS * SAMPLES).input(layout).output(layout)
}

graph! {
    /// `Radar` without its disk, and with the compression by transforms.
    pub(super) struct ByTransforms(count: u64, threshold: f32, show: Report<u8>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);

        #[streams(STREAMS)] #[when(count(count), periodic(Duration::from_millis(1)))]
        let antenna: Antenna = Antenna::new(platform)?;
        #[streams(STREAMS)]
        let compress: CompressByTransforms = CompressByTransforms {
            spectrum: platform.upload(&spectrum_of_code())?,
            plan: None,
        };
        #[streams(STREAMS)]
        let doppler: Fft<f32> = Fft::forward(over_pulses());
        #[streams(none)]
        let average: Average = Average::new(platform.upload(&[0.0; PULSES * SAMPLES])?);
        #[streams(none)]
        let detect: Detect = Detect::new(threshold);
        #[streams(STREAMS)]
        let show: Deliver<u8> = Deliver::new(show);

        antenna.echoes >> compress.echoes;
        compress.ranges >> doppler.signal;
        doppler.spectrum >> average.cells;
        average.average >> detect.map;
        detect.found >> show.tensor;
    }
}
