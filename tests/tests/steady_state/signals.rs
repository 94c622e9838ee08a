//! Law 12 for the operators of signals: steady ticks make no allocations.

use streamflow::prelude::*;
use streamflow_math::operators::{
    Fir, Gather, Hilbert, Interpolate, Istft, Peaks, Polyphase, Stft, Transpose,
};
use streamflow_tests::Failed;
use streamflow_tests::graph_runs::OnTick;

use super::{check_steady, few_allocations_within, late, warm_calls};

/// The number of ticks, which is lower than for other graphs, since the simulator computes for longer.
const TICKS: usize = 200;

/// Sends two signals, and indices.
#[operator(streams(own))]
struct Source {
    #[output]
    signal: Tensor<f32>,
    #[output]
    indices: Tensor<i32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.own)?;
        let mut signal = cx.tensor([2, 32], &stream)?;
        stream.fill_bytes(&mut signal, 0)?;
        let mut indices = cx.tensor([3], &stream)?;
        stream.fill_bytes(&mut indices, 0)?;
        io.signal.set_cuda_stream(&stream).emit(signal)?;
        io.indices.set_cuda_stream(&stream).emit(indices)
    }
}

/// Reports each tick.
#[operator]
struct Report {
    #[input]
    positions: &Tensor<u32>,
    on_tick: OnTick,
}

impl Compute for Report {
    fn compute(&mut self, io: ReportIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, _) = io.positions.receive_with_stream(cx)?;
        (self.on_tick)(cx.tick())
    }
}

graph! {
    /// All operators of signals in a row. The peaks have no distance, since its host body sorts.
    struct Signals(ticks: u64, on_tick: OnTick) {
        #[when(count(ticks))]
        let source: Source = Source::new();
        let fir: Fir<f32> = Fir::new([1.0, 0.5, 0.25])?;
        let hilbert: Hilbert = Hilbert::new();
        let polyphase: Polyphase<f32> = Polyphase::new([1.0, 2.0, 1.0], 3, 2)?;
        let stft: Stft<f32> = Stft::hann(8, 4)?;
        let istft: Istft<f32> = Istft::hann(8, 4)?.len(40);
        let interpolate: Interpolate<f32> = Interpolate::new([0.5, 3.0, 7.75, 20.0])?;
        let transpose: Transpose<f32> = Transpose::new([1, 0])?;
        let gather: Gather<f32, i32> = Gather::along(1);
        let peaks: Peaks = Peaks::new(2)?;
        let report: Report = Report::new(on_tick);
        source.signal >> fir.signal;
        source.signal >> hilbert.signal;
        source.indices >> gather.indices;
        fir.filtered >> polyphase.signal;
        polyphase.filtered >> stft.signal;
        stft.spectra >> istft.spectra;
        istft.signal >> interpolate.signal;
        interpolate.values >> transpose.tensor;
        transpose.transposed >> gather.data;
        gather.taken >> peaks.signal;
        peaks.positions >> report.positions;
        peaks.heights >> _;
        peaks.counts >> _;
        hilbert.analytic >> _;
    }
}

/// How many ticks the source is ahead of the last node of the row, at most, so that it has not ended when the count does.
const AHEAD: u64 = 40;

fn run(platform: &Platform, ticks: u64, on_tick: OnTick) -> Result<(), Failed> {
    Ok(Signals::new(platform, ticks + AHEAD, on_tick)?.run().map(drop)?)
}

pub(super) fn signals_make_no_resources(platform: &Platform) -> Result<(), Failed> {
    check_steady("signals", &warm_calls(platform, TICKS, run)?)
}

/// How many allocations the simulator may make for its list of queued work. A tick queues some 40 calls, and the host does not wait for the
/// device, so under some seeds the list is the longest after the warm-up. An allocation in each tick would be 200.
const QUEUED: u64 = 60;

pub(super) fn signals_make_no_heap_allocations(platform: &Platform) -> Result<(), Failed> {
    few_allocations_within("signals", TICKS, QUEUED + late(), |ticks, on_tick| {
        run(platform, ticks, on_tick)
    })
}
