//! A graph with candle in one of its operators: a slow producer, candle's network, and kernels that read its result.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use candle_core::Tensor as Candles;
use streamflow::memory::After;
use streamflow::prelude::*;

use crate::border::{Place, address, adopt};
use crate::kernels::{fill, finish, judge, produce, slow_copy};
use crate::model::Model;
use crate::network::{BEFORE_INPUT, IMAGES, INPUT, OUTPUT, SHAPE, TOLERANCE, rows};

/// The order between the streams of streamflow and of candle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edges {
    /// By the feature `cudarc`: candle's stream comes after the producer, and later work after candle's stream.
    Both,
    /// candle's stream does not wait for the producer.
    WithoutIn,
    /// Later work does not wait for candle's stream.
    WithoutOut,
}

/// How a graph runs.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How many images.
    pub ticks: u64,
    /// The clock cycles of the producer; candle's stream is delayed by half as many after it.
    pub slow: u64,
    pub edges: Edges,
    /// The host waits for the device after so many ticks. `ticks` is a multiple of it.
    pub every: u64,
}

/// The results of a run.
#[derive(Debug, Default, Clone)]
pub struct Outcome {
    /// The results by row: see [`judge`].
    pub counts: Vec<u32>,
    /// The largest difference between a right result and that of the CPU.
    pub worst: f32,
    /// The number of ticks with equal addresses on either side of both borders.
    pub in_place: u64,
    /// The host's time in the calls that hand memory over, and in candle's.
    pub hand_over: Duration,
    pub candle: Duration,
}

/// Results that the operators share with the program.
pub type Found = Arc<Mutex<Outcome>>;

/// Writes an image on a stream of its own. If it is slow, its memory holds another image before.
#[operator(streams(fill))]
pub struct Produce {
    #[output]
    x: Tensor<f32>,
    settings: Settings,
}

impl Compute for Produce {
    fn compute(&mut self, io: ProduceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut x = cx.tensor([INPUT], &stream)?;
        if self.settings.slow > 0 {
            stream.launch::<fill>(INPUT, (&mut x, BEFORE_INPUT))?;
            stream.synchronize_blocking()?;
        }
        let salt = (cx.tick() % IMAGES) as u32;
        stream.launch::<produce>(INPUT, (&mut x, salt, self.settings.slow))?;
        io.x.set_cuda_stream(&stream).emit(x)
    }
}

/// candle's network, on candle's stream.
#[operator(streams(side))]
pub struct Infer {
    #[input]
    x: &Tensor<f32>,
    #[output]
    y: Tensor<f32>,
    model: Arc<Model>,
    /// candle on the host has no place.
    place: Option<Place>,
    settings: Settings,
    found: Found,
}

impl Compute for Infer {
    fn compute(&mut self, io: InferIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (x, stream) = io.x.receive().receive_cuda_stream(cx)?;
        let Some(place) = &mut self.place else {
            let image = stream.download_blocking(x)?;
            let image = Candles::from_slice(&image, &SHAPE[..], self.model.device())?;
            let y = self.model.forward(&image)?.flatten_all()?.to_vec1::<f32>()?;
            return io.y.emit(cx.upload(&y)?);
        };
        let theirs = place.stream();
        let Settings { slow, edges, .. } = self.settings;
        if edges == Edges::WithoutOut {
            self.model.leave_values_in_freed_memory()?;
        }
        if slow > 0 {
            let side = cx.allocate_cuda_stream(io.side)?;
            let mut copy = cx.tensor([INPUT], &side)?;
            side.launch::<slow_copy>(INPUT, (&mut copy, x, slow / 2))?;
            if edges != Edges::WithoutIn {
                side.before_cudarc(&theirs)?;
            }
        }
        let from = stream.read_raw(x, |address| address)?;
        let network = |x: &Candles| {
            let (begun, is_same) = (Instant::now(), address(x)? == from);
            let y = self.model.forward(x)?;
            Ok::<_, Failure>((y, is_same, begun, Instant::now()))
        };
        let begun = Instant::now();
        let (y, in_place, inner, inner_end) = match edges {
            Edges::Both => stream.read_cudarc(x, &theirs, |view| place.with(&view, network))??,
            Edges::WithoutIn => {
                let done = place.with_unordered(x, &stream, network)?;
                stream.after_cudarc(&theirs)?;
                done
            }
            Edges::WithoutOut => {
                stream.before_cudarc(&theirs)?;
                place.with_unordered(x, &stream, network)?
            }
        };
        let to = address(&y)?;
        // `stream` comes after candle's, unless the edge was left out.
        let after =
            if edges == Edges::WithoutOut { After::Complete } else { After::QueuedOn(&stream) };
        let y = adopt(cx.platform(), y, after)?;
        let end = Instant::now();
        let is_same = stream.read_raw(&y, |address| address == to)?;
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.in_place += u64::from(in_place && is_same);
        found.candle += inner_end - inner;
        found.hand_over += (end - begun) - (inner_end - inner);
        drop(found);
        io.y.emit(y)
    }
}

/// Reads candle's result with kernels, and counts on the device what it is.
#[operator]
pub struct Judge {
    #[input]
    y: &Tensor<f32>,
    settings: Settings,
    found: Found,
    tables: Option<Tables>,
}

/// Memory that stays on the device.
pub struct Tables {
    rows: Tensor<f32>,
    counts: Tensor<u32>,
    worst: Tensor<f32>,
}

impl Compute for Judge {
    fn start(&mut self, _: JudgeStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let rows = rows()?;
        let counts = cx.upload(&vec![0_u32; rows.len() / OUTPUT + 2])?;
        self.tables = Some(Tables { rows: cx.upload(&rows)?, counts, worst: cx.upload(&[0.0])? });
        Ok(())
    }

    fn compute(&mut self, io: JudgeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (y, stream) = io.y.receive().receive_cuda_stream(cx)?;
        let Some(Tables { rows, counts, worst }) = &mut self.tables else {
            return Err(Failure::msg("`start` makes the tables"));
        };
        let mut out = cx.tensor([y.len()], &stream)?;
        stream.launch::<finish>(y.len(), (&mut out, y))?;
        let expected = cx.tick() % IMAGES;
        stream
            .launch::<judge>(1, (&mut *counts, &mut *worst, &out, &*rows, expected, TOLERANCE))?;
        if (cx.tick() + 1).is_multiple_of(self.settings.every) {
            let (counts, worst) = (cx.download(counts, &stream)?, cx.download(worst, &stream)?);
            let (counts, worst) = (counts.wait_blocking()?.to_vec(), worst.wait_blocking()?[0]);
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            (found.counts, found.worst) = (counts, worst);
        }
        Ok(())
    }
}

graph! {
    /// A producer, candle, and what reads candle's result.
    pub struct Beside(settings: Settings, model: Arc<Model>, place: Option<Place>, found: Found) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);

        #[streams(STREAMS)] #[when(count(settings.ticks))]
        let produce: Produce = Produce::new(settings);
        #[streams(STREAMS)]
        let infer: Infer = Infer::new(model, place, settings, found.clone());
        #[streams(STREAMS)]
        let judge: Judge = Judge::new(settings, found, None);

        produce.x >> infer.x;
        infer.y >> judge.y;
    }
}
