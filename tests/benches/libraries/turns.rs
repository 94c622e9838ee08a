//! The operator that takes the turns, and what it has measured.

use std::fmt;
use std::time::Instant;

use streamflow::prelude::*;
use streamflow_tests::foreign::by_hand::{ByHand, Case};
use streamflow_tests::libraries::{Problem, Workload};

/// Cycles for which a stream is busy, for each call that is queued meanwhile: 50 µs at 2 GHz, and as much again for
/// calls that launch many kernels.
const CYCLES_PER_CALL: u64 = 100_000;
const CYCLES_AT_LEAST: u64 = 2_000_000;

/// The times of one form's calls in one turn, in seconds for each call.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    device: f64,
    /// The first call after the host has waited: what it needs is no longer in the first caches.
    first: f64,
    /// Each call after it.
    host: f64,
}

impl Times {
    /// Times a first call, and so many more.
    fn of_host(calls: usize, mut call: impl FnMut(usize) -> Result<()>) -> Result<Self> {
        let begin = Instant::now();
        call(1)?;
        let first = begin.elapsed();
        call(calls)?;
        let rest = begin.elapsed() - first;
        let host = rest.as_secs_f64() / calls as f64;
        Ok(Self { device: 0.0, first: first.as_secs_f64(), host })
    }
}

/// The times of each turn: of the plan, of the code by hand, and of that code once more.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    turns: Vec<[Times; 3]>,
    /// The host's seconds of single calls, which follow each other: one of each form.
    calls: Vec<[f64; 3]>,
    difference: f64,
}

/// Compares a problem's plan with the code by hand.
#[operator(no_new, streams(calls))]
pub(crate) struct Turns {
    #[output]
    measured: HostData<Measured>,
    problem: Problem,
    by_hand: Option<(ByHand, [Case; 2])>,
    calls: usize,
    turns: usize,
    plan: Option<Box<dyn Workload>>,
}

impl Turns {
    pub(crate) fn new(
        problem: Problem,
        by_hand: Option<(ByHand, [Case; 2])>,
        calls: usize,
        turns: usize,
    ) -> Self {
        Self { problem, by_hand, calls, turns, plan: None }
    }

    fn of_plan(&mut self, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Times> {
        let Some(plan) = &mut self.plan else { return Ok(Times::default()) };
        let all = 1 + self.calls;
        plan.prepare(all, cx, stream)?;
        stream.synchronize_blocking()?;
        let raw = stream.raw().handle();
        if let Some((functions, _)) = &self.by_hand {
            functions.begin(raw, cycles(all));
        }
        let call = |calls| (0..calls).try_for_each(|_| plan.call(stream));
        let times = Times::of_host(self.calls, call)?;
        let device =
            self.by_hand.as_ref().map_or(0.0, |(functions, _)| functions.end_blocking(raw));
        Ok(Times { device: device / all as f64, ..times })
    }

    fn of_code_by_hand(&mut self, which: usize) -> Result<Times> {
        let Some((functions, cases)) = &mut self.by_hand else { return Ok(Times::default()) };
        let (case, all) = (&mut cases[which], 1 + self.calls);
        case.prepare_blocking(all);
        let stream = case.stream();
        functions.begin(stream, cycles(all));
        let call = |calls| {
            case.call(calls);
            Ok(())
        };
        let times = Times::of_host(self.calls, call)?;
        Ok(Times { device: functions.end_blocking(stream) / all as f64, ..times })
    }

    /// Times single calls of all forms, one after the other, so that what slows the host for a while slows all alike.
    fn single_calls(
        &mut self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        to: &mut Vec<[f64; 3]>,
    ) -> Result<()> {
        let Self { plan: Some(plan), by_hand: Some((functions, cases)), calls, .. } = self else {
            return Ok(());
        };
        // As many as all forms have together in other turns.
        let calls = *calls / 3 + 1;
        plan.prepare(calls, cx, stream)?;
        stream.synchronize_blocking()?;
        let raw = stream.raw().handle();
        cases.iter_mut().for_each(|case| case.prepare_blocking(calls));
        let streams = [raw, cases[0].stream(), cases[1].stream()];
        streams.iter().for_each(|stream| functions.begin(*stream, cycles(3 * calls)));
        for turn in 0..calls {
            let mut seconds = [0.0; 3];
            for form in order(turn) {
                let begin = Instant::now();
                match form {
                    0 => plan.call(stream)?,
                    _ => cases[form - 1].call(1),
                }
                seconds[form] = begin.elapsed().as_secs_f64();
            }
            // The first calls come after the host has waited.
            if turn > 0 {
                to.push(seconds);
            }
        }
        for stream in streams {
            functions.end_blocking(stream);
        }
        Ok(())
    }

    fn difference(&mut self, stream: &Stream<'_>) -> Result<f64> {
        let (Some(plan), Some((_, [case, _]))) = (&self.plan, &mut self.by_hand) else {
            return Ok(0.0);
        };
        let ours = plan.result_blocking(stream)?;
        let mut theirs = ours.clone();
        case.result_blocking(&mut theirs);
        Ok(theirs.difference(&ours))
    }
}

impl Compute for Turns {
    fn start(&mut self, streams: TurnsStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(streams.calls)?;
        self.plan = Some(self.problem.workload(cx, &stream)?);
        Ok(())
    }

    fn compute(&mut self, io: TurnsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.calls)?;
        let mut measured = Measured::default();
        for turn in 0..=self.turns {
            let mut times = [Times::default(); 3];
            for form in order(turn) {
                times[form] = match form {
                    0 => self.of_plan(cx, &stream)?,
                    _ => self.of_code_by_hand(form - 1)?,
                };
            }
            // The first turn warms up.
            if turn > 0 {
                measured.turns.push(times);
                self.single_calls(cx, &stream, &mut measured.calls)?;
            }
        }
        measured.difference = self.difference(&stream)?;
        io.measured.emit(HostData(measured))
    }
}

/// The forms in the order of a turn. In six turns each form has each place twice, and each other form before it equally often:
/// a call finds in the caches what the one before has left.
fn order(turn: usize) -> [usize; 3] {
    const ORDERS: [[usize; 3]; 6] =
        [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];
    ORDERS[turn % ORDERS.len()]
}

fn cycles(calls: usize) -> u64 {
    CYCLES_AT_LEAST.max(calls as u64 * CYCLES_PER_CALL)
}

impl Measured {
    pub(crate) const HEADINGS: &str = "                  device: plan  by hand     ratio   (noise)   host: plan   by hand     \
                                       more   (noise)     least   first: plan   by hand     more   (noise)   one call: more   (noise)   results";

    fn median(&self, of: impl Fn(&[Times; 3]) -> f64) -> f64 {
        let mut values: Vec<_> = self.turns.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// The median difference of a single call and the one by hand beside it, in nanoseconds.
    fn of_single_calls(&self, form: usize) -> f64 {
        let mut more: Vec<_> = self.calls.iter().map(|it| (it[form] - it[1]) * 1e9).collect();
        more.sort_by(f64::total_cmp);
        more.get(more.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn least(&self, of: impl Fn(&[Times; 3]) -> f64) -> f64 {
        self.turns.iter().map(of).fold(f64::INFINITY, f64::min)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = |form: usize| self.median(|times| times[form].device * 1e6);
        let ratio = |form: usize| self.median(|times| times[form].device / times[1].device);
        write!(f, "{:>9.2} us{:>9.2}{:>10.4}{:>10.4}", device(0), device(1), ratio(0), ratio(2))?;
        let host = |form: usize| self.median(|times| times[form].host * 1e9);
        let more = |form: usize| self.median(|times| (times[form].host - times[1].host) * 1e9);
        let least = |form: usize| self.least(|times| times[form].host * 1e9);
        write!(f, "{:>10.0} ns{:>10.0}{:>9.0}{:>10.0}", host(0), host(1), more(0), more(2))?;
        write!(f, "{:>10.0}", least(0) - least(1))?;
        let first = |form: usize| self.median(|times| times[form].first * 1e9);
        let more = |form: usize| self.median(|times| (times[form].first - times[1].first) * 1e9);
        write!(f, "{:>11.0} ns{:>10.0}{:>9.0}{:>10.0}", first(0), first(1), more(0), more(2))?;
        write!(f, "{:>17.0}{:>10.0}", self.of_single_calls(0), self.of_single_calls(2))?;
        write!(f, "{:>10.1e}", self.difference)
    }
}
