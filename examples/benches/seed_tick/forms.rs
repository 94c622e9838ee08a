//! The forms of the application behind one trait, and the comparison of their times.

#![allow(clippy::print_stdout, reason = "a benchmark")]

use std::time::Instant;

use streamflow::prelude::*;

use crate::{LATENCIES, TICKS};

/// A form of the application.
pub(crate) trait Form {
    /// Queues [`TICKS`] ticks and waits for them. Returns the seconds until all were queued, and the seconds until all were done.
    /// The first number is `None` for a form that reads results while it queues.
    fn batch(&mut self) -> Result<(Option<f64>, f64)>;

    /// Returns the seconds for one tick, from its start until its sums are on the host.
    fn latency(&mut self) -> Result<f64>;
}

/// A form and its name.
pub(crate) type Named<'a> = (&'static str, &'a mut dyn Form);

/// The form that is wired by hand. Each call of the function queues a tick.
pub(crate) struct ByHand<F>(pub(crate) F);

impl<F: FnMut() -> Result<Download<f32>>> Form for ByHand<F> {
    fn batch(&mut self) -> Result<(Option<f64>, f64)> {
        let start = Instant::now();
        let mut last = (self.0)()?;
        for _ in 1..TICKS {
            last = (self.0)()?;
        }
        let queued = start.elapsed();
        last.wait_blocking()?;
        Ok((Some(queued.as_secs_f64()), start.elapsed().as_secs_f64()))
    }

    fn latency(&mut self) -> Result<f64> {
        let start = Instant::now();
        (self.0)()?.wait_blocking()?;
        Ok(start.elapsed().as_secs_f64())
    }
}

/// Keeps the last download and the time at which it was queued, without waiting.
#[operator(no_new)]
pub(crate) struct Last {
    #[input]
    tensor: &Tensor<f32>,
    count: u64,
    last: Option<(Download<f32>, Instant)>,
}

impl Last {
    pub(crate) fn new(count: u64) -> Self {
        Self { count, last: None }
    }
}

impl Compute for Last {
    fn compute(&mut self, io: LastIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, stream) = io.tensor.receive().receive_cuda_stream(cx)?;
        let download = cx.download(tensor, &stream)?;
        if cx.tick() + 1 == self.count {
            self.last = Some((download, Instant::now()));
        }
        Ok(())
    }
}

/// A graph with a [`Last`].
pub(crate) trait Readable {
    fn run(&mut self) -> Result<()>;
    fn last(&self) -> &Last;
}

/// The form as a graph: `many` runs [`TICKS`] ticks for the host and wall times, and `one` runs one tick for the latency.
pub(crate) struct Graph<G> {
    many: G,
    one: G,
}

impl<G: Readable> Graph<G> {
    pub(crate) fn new(many: G, one: G) -> Self {
        Self { many, one }
    }
}

impl<G: Readable> Form for Graph<G> {
    fn batch(&mut self) -> Result<(Option<f64>, f64)> {
        let start = Instant::now();
        self.many.run()?;
        let done = start.elapsed().as_secs_f64();
        let queued = self.many.last().last.as_ref().map(|(_, queued)| *queued - start);
        Ok((queued.map(|queued| queued.as_secs_f64()), done))
    }

    fn latency(&mut self) -> Result<f64> {
        let start = Instant::now();
        self.one.run()?;
        if let Some((sums, _)) = &self.one.last().last {
            sums.wait_blocking()?;
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

/// A form that reads the result of each tick on the host.
pub(crate) struct Reading<M, O> {
    many: M,
    one: O,
}

impl Reading<(), ()> {
    /// Creates the form that is wired by hand. It reads the result of a tick while the next tick computes.
    pub(crate) fn by_hand(tick: impl FnMut() -> Result<Download<f32>>) -> impl Form {
        let tick = std::cell::RefCell::new(tick);
        Reading {
            many: move |ticks: u64| {
                let mut tick = tick.borrow_mut();
                let mut before = (*tick)()?;
                for _ in 1..ticks {
                    let next = (*tick)()?;
                    std::hint::black_box(before.wait_blocking()?);
                    before = next;
                }
                std::hint::black_box(before.wait_blocking()?);
                Ok(())
            },
            one: None::<fn() -> Result<()>>,
        }
    }

    /// Creates the form as a graph, whose sink reads the result of each tick.
    pub(crate) fn graph(
        mut many: impl FnMut() -> Result<()>,
        one: impl FnMut() -> Result<()>,
    ) -> impl Form {
        Reading { many: move |_| many(), one: Some(one) }
    }
}

impl<M: FnMut(u64) -> Result<()>, O: FnMut() -> Result<()>> Form for Reading<M, Option<O>> {
    fn batch(&mut self) -> Result<(Option<f64>, f64)> {
        let start = Instant::now();
        (self.many)(TICKS)?;
        Ok((None, start.elapsed().as_secs_f64()))
    }

    fn latency(&mut self) -> Result<f64> {
        let start = Instant::now();
        match &mut self.one {
            Some(one) => one()?,
            None => (self.many)(1)?,
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

/// The measurements of one form, in microseconds.
#[derive(Default)]
struct Times {
    host: Vec<f64>,
    wall: Vec<f64>,
    latency: Vec<f64>,
}

impl Times {
    fn batch(&mut self, form: &mut dyn Form, keep: bool) -> Result<()> {
        let (queued, done) = form.batch()?;
        if keep {
            self.host.extend(queued.map(|queued| queued * 1e6 / TICKS as f64));
            self.wall.push(done * 1e6 / TICKS as f64);
        }
        Ok(())
    }

    /// Returns the medians of host and wall time, and the median and the 99th percentile of the latency.
    fn quantiles(&self) -> [Option<f64>; 4] {
        [
            quantile(&self.host, 0.5),
            quantile(&self.wall, 0.5),
            quantile(&self.latency, 0.5),
            quantile(&self.latency, 0.99),
        ]
    }

    /// Returns the ratios of this form to `other`. For the host and the wall time: the median of the ratios of the turns. For the
    /// latency: the ratios of the two quantiles.
    fn ratios(&self, other: &Self) -> [Option<f64>; 4] {
        let turns =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a / b).collect() };
        let latency = |q| Some(quantile(&self.latency, q)? / quantile(&other.latency, q)?);
        [
            quantile(&turns(&self.host, &other.host), 0.5),
            quantile(&turns(&self.wall, &other.wall), 0.5),
            latency(0.5),
            latency(0.99),
        ]
    }
}

/// Measures forms of the same work in turns. Prints the times of each form, and its ratios to the earlier forms.
pub(crate) fn compare<const N: usize>(
    name: &str,
    batches: usize,
    mut forms: [Named<'_>; N],
) -> Result<()> {
    let mut times: [Times; N] = std::array::from_fn(|_| Times::default());
    for batch in 0..=batches {
        for ((_, form), times) in forms.iter_mut().zip(&mut times) {
            // The first batch is a warm-up, and its times are not kept.
            times.batch(&mut **form, batch > 0)?;
        }
    }
    for _ in 0..LATENCIES {
        for ((_, form), times) in forms.iter_mut().zip(&mut times) {
            times.latency.push(form.latency()? * 1e6);
        }
    }
    for (index, (form, _)) in forms.iter().enumerate() {
        row(name, form, times[index].quantiles());
        for (other, (before, _)) in forms[..index].iter().enumerate() {
            row(name, &format!("{form} / {before}"), times[index].ratios(&times[other]));
        }
    }
    Ok(())
}

fn row(name: &str, form: &str, [host, wall, p50, p99]: [Option<f64>; 4]) {
    // A form that reads while it queues has no host time.
    let text = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
    println!(
        "  {name:<17} {form:<15} host {:>9}  wall {:>9}  latency p50 {:>9} p99 {:>9}",
        text(host),
        text(wall),
        text(p50),
        text(p99),
    );
}

fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(values[(last as f64 * q).round() as usize])
}
