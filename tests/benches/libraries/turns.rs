//! The operator that runs plans and programs by hand in turns.

use std::time::Instant;

use streamflow::prelude::*;
use streamflow_tests::foreign::by_hand::{ByHand, Case};
use streamflow_tests::libraries::{Problem, Workload};

use crate::measured::{FORMS, Measured, OF_EACH, Times};

/// How many clock cycles a stream is kept busy for each call that is queued meanwhile: 50 µs at 2 GHz, which is enough
/// for calls that launch many kernels.
const CYCLES_PER_CALL: u64 = 100_000;
const CYCLES_AT_LEAST: u64 = 2_000_000;

impl Times {
    /// Measures a first call, and then `calls` more.
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

/// An operator that compares the plans of a problem with programs by hand.
#[operator(no_new, streams(first, second))]
pub(crate) struct Turns {
    #[output]
    measured: HostData<Measured>,
    problem: Problem,
    by_hand: Option<ByHand>,
    calls: usize,
    turns: usize,
    plans: Vec<Box<dyn Workload>>,
    programs: Vec<Case>,
}

impl Turns {
    pub(crate) fn new(
        problem: Problem,
        by_hand: Option<ByHand>,
        calls: usize,
        turns: usize,
    ) -> Self {
        Self { problem, by_hand, calls, turns, plans: Vec::new(), programs: Vec::new() }
    }

    fn of_plan(
        &mut self,
        which: usize,
        cx: &ExecutionContext,
        streams: &[Stream<'_>; OF_EACH],
    ) -> Result<Times> {
        let (plan, stream, all) = (&mut self.plans[which], &streams[which], 1 + self.calls);
        plan.prepare(all, cx, stream)?;
        stream.synchronize_blocking()?;
        let raw = stream.raw().handle();
        if let Some(functions) = &self.by_hand {
            functions.begin(raw, cycles(all));
        }
        let call = |calls| (0..calls).try_for_each(|_| plan.call(stream));
        let times = Times::of_host(self.calls, call)?;
        let device = self.by_hand.as_ref().map_or(0.0, |functions| functions.end_blocking(raw));
        Ok(Times { device: device / all as f64, ..times })
    }

    fn of_code_by_hand(&mut self, which: usize) -> Result<Times> {
        let Some(functions) = &self.by_hand else { return Ok(Times::default()) };
        let (case, all) = (&mut self.programs[which], 1 + self.calls);
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

    /// Measures single calls of all forms, one after the other, so that a disturbance of the host slows all forms alike.
    fn single_calls(
        &mut self,
        cx: &ExecutionContext,
        streams: &[Stream<'_>; OF_EACH],
        to: &mut Vec<[f64; FORMS]>,
    ) -> Result<()> {
        let Self { plans, programs, by_hand: Some(functions), calls, .. } = self else {
            return Ok(());
        };
        // The number of rounds is a multiple of the number of orders, so each order occurs equally often. The first round
        // is not counted.
        let rounds = FORMS * (*calls / FORMS / FORMS).max(1);
        let calls = 1 + rounds;
        for (plan, stream) in plans.iter_mut().zip(streams) {
            plan.prepare(calls, cx, stream)?;
            stream.synchronize_blocking()?;
        }
        programs.iter_mut().for_each(|case| case.prepare_blocking(calls));
        let by_hand = programs.iter_mut().map(Case::stream);
        let raw: Vec<_> =
            streams.iter().map(|stream| stream.raw().handle()).chain(by_hand).collect();
        raw.iter().for_each(|stream| functions.begin(*stream, cycles(FORMS * calls)));
        for turn in 0..calls {
            let mut seconds = [0.0; FORMS];
            for form in order(turn) {
                let begin = Instant::now();
                match form.checked_sub(OF_EACH) {
                    None => plans[form].call(&streams[form])?,
                    Some(program) => programs[program].call(1),
                }
                seconds[form] = begin.elapsed().as_secs_f64();
            }
            // The first round is left out, since the host has waited before it.
            if turn > 0 {
                to.push(seconds);
            }
        }
        for stream in raw {
            functions.end_blocking(stream);
        }
        Ok(())
    }

    /// Returns the largest difference between the results of a plan and those of its program by hand.
    fn difference(&mut self, streams: &[Stream<'_>; OF_EACH]) -> Result<f64> {
        let mut difference = 0.0_f64;
        for ((plan, case), stream) in self.plans.iter().zip(&mut self.programs).zip(streams) {
            let ours = plan.result_blocking(stream)?;
            let mut theirs = ours.clone();
            case.result_blocking(&mut theirs);
            difference = difference.max(theirs.difference(&ours));
        }
        Ok(difference)
    }
}

impl Compute for Turns {
    fn start(&mut self, streams: TurnsStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        // Allocating a stream binds its device to the thread, so the code by hand also runs on that device.
        let streams =
            [cx.allocate_cuda_stream(streams.first)?, cx.allocate_cuda_stream(streams.second)?];
        let new_program = || self.by_hand.map(|functions| Case::new(functions, &self.problem));
        self.programs.extend(new_program().transpose()?);
        for stream in &streams {
            self.plans.push(self.problem.workload(cx, stream)?);
        }
        self.programs.extend(new_program().transpose()?);
        Ok(())
    }

    fn compute(&mut self, io: TurnsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let streams = [cx.allocate_cuda_stream(io.first)?, cx.allocate_cuda_stream(io.second)?];
        let mut measured = Measured::default();
        for turn in 0..=self.turns {
            let mut times = [Times::default(); FORMS];
            for form in order(turn) {
                times[form] = match form.checked_sub(OF_EACH) {
                    None => self.of_plan(form, cx, &streams)?,
                    Some(program) => self.of_code_by_hand(program)?,
                };
            }
            // The first turn warms up and is not counted.
            if turn > 0 {
                measured.turns.push(times);
                self.single_calls(cx, &streams, &mut measured.calls)?;
            }
        }
        measured.difference = self.difference(&streams)?;
        io.measured.emit(HostData(measured))
    }
}

/// The forms in the order of a turn. In as many turns as there are forms, each has each place once, and within the
/// turns each other form before it once: a call finds the caches as the call before has left them. (E. J. Williams,
/// 1949, "Experimental designs balanced for the estimation of residual effects of treatments".) From one round of
/// single calls to the next, a plan comes before a program as often as a program before a plan. Before each turn, the
/// last single call is the first program's.
fn order(turn: usize) -> [usize; FORMS] {
    [0, 3, 1, 2].map(|form| (form + turn) % FORMS)
}

fn cycles(calls: usize) -> u64 {
    CYCLES_AT_LEAST.max(calls as u64 * CYCLES_PER_CALL)
}
