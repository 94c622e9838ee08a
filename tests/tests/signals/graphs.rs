//! Each operator in a graph: from host data to the device and back, under the seeds of the simulator.

use std::sync::mpsc::{Receiver, Sender, channel};

use streamflow::memory::Complex;
use streamflow::operators::{self, Deliver, Upload};
use streamflow::prelude::*;
use streamflow_math::operators::{
    Fir, Gather, Hilbert, Interpolate, InterpolateAt, Istft, Peaks, Polyphase, Stft, Transpose,
};
use streamflow_tests::{Failed, check_equal};

use super::cases::{self, Parts, near};

type C32 = Complex<f32>;
/// A result: its shape and its elements.
type Seen<T> = (Vec<usize>, Vec<T>);

/// Sends a message in each tick.
#[operator]
struct Source<T: Element> {
    #[output]
    data: HostData<Vec<T>>,
    messages: Vec<Vec<T>>,
}

impl<T: Element> Compute for Source<T> {
    fn compute(&mut self, io: SourceIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let message = self.messages.get(cx.tick() as usize).cloned();
        io.data.emit(HostData(message.ok_or_else(|| Failure::msg("no message"))?))
    }
}

fn sent<T: Element>(seen: Sender<Seen<T>>) -> Deliver<Download<T>> {
    Deliver::new(move |data: &Download<T>| {
        Ok(seen.send((data.shape().to_vec(), data.wait_blocking()?.to_vec()))?)
    })
}

/// A graph of an operator with one input and one output.
macro_rules! of_one {
    ($name:ident: $from:ty => $operator:ty => $to:ty, $input:ident -> $output:ident) => {
        graph! {
            struct $name(
                messages: Vec<Vec<$from>>,
                ticks: u64,
                shape: Vec<usize>,
                made: $operator,
                seen: Sender<Seen<$to>>
            ) {
                #[when(count(ticks))]
                let source: Source<$from> = Source::new(messages);
                let upload: Upload<$from> = Upload::with_shape(&*shape)?;
                let operator: $operator = made;
                let download: operators::Download<$to> = operators::Download::new();
                #[when(host_done(message))]
                let deliver: Deliver<Download<$to>> = sent(seen);
                source.data >> upload.data;
                upload.tensor >> operator.$input;
                operator.$output >> download.tensor;
                download.data >> deliver.message;
            }
        }
    };
}

of_one!(OfFir: f32 => Fir<f32> => f32, signal -> filtered);
of_one!(OfPolyphase: C32 => Polyphase<C32> => C32, signal -> filtered);
of_one!(OfHilbert: f32 => Hilbert => C32, signal -> analytic);
of_one!(OfStft: f32 => Stft<f32> => C32, signal -> spectra);
of_one!(OfIstft: C32 => Istft<f32> => f32, spectra -> signal);
of_one!(OfInterpolate: f32 => Interpolate<f32> => f32, signal -> values);
of_one!(OfTranspose: C32 => Transpose<C32> => C32, tensor -> transposed);

/// A graph of an operator with two inputs and one output.
macro_rules! of_two {
    ($name:ident: $from:ty, $with:ty => $operator:ty => $to:ty, $input:ident, $other:ident -> $output:ident) => {
        graph! {
            struct $name(
                messages: Vec<Vec<$from>>,
                others: Vec<Vec<$with>>,
                ticks: u64,
                shape: Vec<usize>,
                of_others: Vec<usize>,
                made: $operator,
                seen: Sender<Seen<$to>>
            ) {
                #[when(count(ticks))]
                let source: Source<$from> = Source::new(messages);
                #[when(count(ticks))]
                let other: Source<$with> = Source::new(others);
                let upload: Upload<$from> = Upload::with_shape(&*shape)?;
                let upload_other: Upload<$with> = Upload::with_shape(&*of_others)?;
                let operator: $operator = made;
                let download: operators::Download<$to> = operators::Download::new();
                #[when(host_done(message))]
                let deliver: Deliver<Download<$to>> = sent(seen);
                source.data >> upload.data;
                other.data >> upload_other.data;
                upload.tensor >> operator.$input;
                upload_other.tensor >> operator.$other;
                operator.$output >> download.tensor;
                download.data >> deliver.message;
            }
        }
    };
}

of_two!(OfInterpolateAt: f32, f32 => InterpolateAt<f32> => f32, signal, positions -> values);
of_two!(OfGather: f32, i32 => Gather<f32, i32> => f32, data, indices -> taken);

graph! {
    /// The peaks' heights and places, and a number for each signal.
    struct OfPeaks(
        messages: Vec<Vec<f32>>,
        ticks: u64,
        shape: Vec<usize>,
        made: Peaks,
        positions: Sender<Seen<u32>>,
        counts: Sender<Seen<u32>>
    ) {
        #[when(count(ticks))]
        let source: Source<f32> = Source::new(messages);
        let upload: Upload<f32> = Upload::with_shape(&*shape)?;
        let peaks: Peaks = made;
        let first: operators::Download<u32> = operators::Download::new();
        let second: operators::Download<u32> = operators::Download::new();
        #[when(host_done(message))]
        let deliver: Deliver<Download<u32>> = sent(positions);
        #[when(host_done(message))]
        let deliver_counts: Deliver<Download<u32>> = sent(counts);
        source.data >> upload.data;
        upload.tensor >> peaks.signal;
        peaks.positions >> first.tensor;
        peaks.counts >> second.tensor;
        peaks.heights >> _;
        first.data >> deliver.message;
        second.data >> deliver_counts.message;
    }
}

const TICKS: u64 = 3;

/// The message of each tick: the numbers of a case, once, twice and three times as large.
fn larger<T: Parts>(x: &[f64]) -> Vec<Vec<T>> {
    let times = |tick| x.iter().map(|part| f64::from(tick) * part).collect::<Vec<_>>();
    (1..=TICKS as u32).map(|tick| T::of(&times(tick))).collect()
}

/// Checks the results of messages that become larger, of an operator that is linear.
fn check_larger<T: Parts>(
    what: &str,
    seen: &Receiver<Seen<T>>,
    shape: &[usize],
    wanted: &[f64],
) -> Result<(), Failed> {
    let found: Vec<Seen<T>> = seen.try_iter().collect();
    check_equal(found.len(), TICKS as usize)?;
    for (tick, found) in (1..).zip(&found) {
        let wanted: Vec<f64> = wanted.iter().map(|part| f64::from(tick) * part).collect();
        near(&format!("{what}, tick {tick}"), found, shape, &wanted, 5e-6)?;
    }
    Ok(())
}

/// Runs a graph of one input with larger and larger messages.
macro_rules! run_larger {
    ($platform:expr, $name:ident, $x:expr, $shape:expr, $made:expr, $new_shape:expr, $wanted:expr) => {{
        let (send, seen) = channel();
        $name::new($platform, larger($x), TICKS, $shape.clone(), $made, send)?.run()?;
        check_larger(stringify!($name), &seen, $new_shape, $wanted)?;
    }};
}

pub(crate) fn each(platform: &Platform) -> Result<(), Failed> {
    let all = cases::all()?;
    let (case, made) = (&all.polyphase[6], |case: &cases::Polyphase| {
        Polyphase::new(f32::of(&case.taps), case.up, case.down)
    });
    run_larger!(platform, OfPolyphase, &case.x, case.shape, made(case)?, &case.new_shape, &case.y);
    let case = &all.hilbert[4];
    run_larger!(platform, OfHilbert, &case.x, case.shape, Hilbert::new(), &case.shape, &case.y);
    let case = &all.stft[1];
    let (there, back) =
        (Stft::new(f32::of(&case.window), case.hop)?, Istft::new(f32::of(&case.window), case.hop)?);
    run_larger!(platform, OfStft, &case.x, case.shape, there, &case.spectra_shape, &case.spectra);
    run_larger!(
        platform,
        OfIstft,
        &case.changed,
        case.spectra_shape,
        back,
        &case.signal_shape,
        &case.signal
    );
    let case = &all.interpolate[2];
    let positions = f32::of(&case.positions);
    let knots = f32::of(case.knots.as_deref().unwrap_or_default());
    let made = Interpolate::new(positions.clone())?.knots(knots.clone())?;
    run_larger!(platform, OfInterpolate, &case.x, case.shape, made, &case.new_shape, &case.y);
    let (send, seen) = channel();
    OfInterpolateAt::new(
        platform,
        larger(&case.x),
        vec![positions.clone(); TICKS as usize],
        TICKS,
        case.shape.clone(),
        vec![positions.len()],
        InterpolateAt::new().knots(knots)?,
        send,
    )?
    .run()?;
    check_larger("InterpolateAt", &seen, &case.new_shape, &case.y)?;
    let case = &all.transpose[6];
    let made = Transpose::new(&case.axes)?;
    run_larger!(platform, OfTranspose, &case.x, case.shape, made, &case.new_shape, &case.y);
    let case = &all.gather[2];
    let (send, seen) = channel();
    OfGather::new(
        platform,
        larger(&case.x),
        vec![case.indices.clone(); TICKS as usize],
        TICKS,
        case.shape.clone(),
        case.indices_shape.clone(),
        Gather::along(case.axis),
        send,
    )?
    .run()?;
    check_larger("Gather", &seen, &case.new_shape, &case.y)?;
    peaks(platform, &all.peaks[4])
}

fn peaks(platform: &Platform, case: &cases::Peaks) -> Result<(), Failed> {
    let made = Peaks::new(case.most)?.distance(case.distance.unwrap_or(1))?;
    let ((positions, of_positions), (counts, of_counts)) = (channel(), channel());
    OfPeaks::new(platform, larger(&case.x), TICKS, case.shape.clone(), made, positions, counts)?
        .run()?;
    let rows = case.shape[0];
    for (seen, wanted) in [
        (of_positions, (vec![rows, case.most], case.positions.clone())),
        (of_counts, (vec![rows], case.counts.clone())),
    ] {
        check_equal(seen.try_iter().collect::<Vec<_>>(), vec![wanted; TICKS as usize])?;
    }
    Ok(())
}

/// The filter's samples of a run are not those of the next one.
pub(crate) fn runs(platform: &Platform) -> Result<(), Failed> {
    // Numbers of few bits, so that each sum is exact.
    let x: Vec<f32> = (0..24_u8).map(|i| f32::from(i * 7 % 11) - 5.5).collect();
    let taps = [1.0, -2.0, 4.0, 0.5, 3.0];
    let wanted: Vec<f32> =
        (0..24).map(|n| (0..taps.len().min(n + 1)).map(|k| taps[k] * x[n - k]).sum()).collect();
    let blocks = || x.chunks(3).map(<[f32]>::to_vec).collect();
    let (send, seen) = channel();
    let mut graph = OfFir::new(platform, blocks(), 8, vec![3], Fir::new(taps)?, send)?;
    for _ in 0..2 {
        graph.run()?;
        let found: Vec<f32> = seen.try_iter().flat_map(|(_, block)| block).collect();
        check_equal(found, wanted.clone())?;
    }
    Ok(())
}
