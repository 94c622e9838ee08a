//! Random programs without a race. Each call comes after the work that it depends on, by waits for records of a few events
//! that are recorded again and again. Passes repeat a few templates. Some passes end earlier, have a further call, or query
//! an event in the middle. The data must be that of the calls in their order.

use std::thread;

use super::SEEDS;
use super::world::{World, mixed};
use crate::driver::replay::{Omission, ReplayRun, Replays};
use crate::splitmix::SplitMix;

const STREAMS: usize = 3;
const CELLS: usize = 8;
/// For each stream, its first event and the end of its events. Stream 0 has a ring of two events, so that the waits for it
/// are for different events.
const EVENTS: [(usize, usize); STREAMS] = [(0, 2), (2, 3), (3, 4)];

fn one_in(random: &mut SplitMix, count: usize) -> bool {
    random.below(count) == 0
}

/// A clock of the test: for each stream, the number of its kernels that come before.
type Clock = [u64; STREAMS];

/// A call of a template, with the record and the wait after it.
#[derive(Debug, Clone, Copy)]
struct Step {
    stream: usize,
    to: usize,
    from: usize,
    value: u64,
    /// The event that the stream records after the kernel, if any.
    records: Option<usize>,
    /// A superfluous wait after the kernel: the stream that waits, and the event that it waits for.
    waits: Option<(usize, usize)>,
}

impl Step {
    fn drawn(random: &mut SplitMix) -> Self {
        Self {
            stream: random.below(STREAMS),
            to: random.below(CELLS),
            from: random.below(CELLS),
            value: random.below(9) as u64,
            records: one_in(random, 2).then(|| random.below(4)),
            waits: one_in(random, 6).then(|| (random.below(STREAMS), random.below(4))),
        }
    }
}

/// The effects of the calls so far: what each stream, event and cell comes after, and the expected data.
#[derive(Default)]
struct Done {
    /// The number of kernels on each stream.
    kernels: Clock,
    after: [Clock; STREAMS],
    /// The kernels that the host has found complete: no stream has to wait for these.
    complete: Clock,
    /// The kernels that come before the latest record of each event.
    records: [Clock; 4],
    /// For each stream, how many events `record_next` has recorded. The number chooses the next event of the stream's ring.
    next: [usize; STREAMS],
    written: [Option<(usize, u64)>; CELLS],
    read: [Clock; CELLS],
    expected: [u64; CELLS],
}

impl Done {
    /// Records the next event of a stream's ring.
    fn record_next(&mut self, world: &World, stream: usize) {
        let (first, end) = EVENTS[stream];
        let event = first + self.next[stream] % (end - first);
        self.next[stream] += 1;
        self.record(world, event, stream);
    }

    fn record(&mut self, world: &World, event: usize, stream: usize) {
        world.record(event, stream);
        self.records[event] = self.after[stream];
        self.records[event][stream] = self.kernels[stream];
    }

    fn wait(&mut self, world: &World, stream: usize, event: usize) {
        world.wait(stream, event);
        raise(&mut self.after[stream], self.records[event]);
    }

    /// Queries an event, or, with `waits`, makes the host wait for it.
    fn ask(&mut self, world: &World, event: usize, waits: bool) {
        if waits {
            world.finish_event(event);
        } else if !world.query(event) {
            return;
        }
        raise(&mut self.complete, self.records[event]);
    }

    /// Makes a stream come after kernel `number` of the stream `before`.
    fn order(&mut self, world: &World, stream: usize, (before, number): (usize, u64)) {
        let known = self.after[stream][before].max(self.complete[before]);
        if stream == before || known >= number {
            return;
        }
        let covers = |records: &[Clock; 4]| records.iter().position(|it| it[before] >= number);
        let event = covers(&self.records).or_else(|| {
            self.record_next(world, before);
            covers(&self.records)
        });
        let Some(event) = event else { return };
        self.wait(world, stream, event);
    }

    fn step(&mut self, world: &World, step: Step) {
        let Step { stream, to, from, value, records, waits } = step;
        for cell in [to, from] {
            if let Some(written) = self.written[cell] {
                self.order(world, stream, written);
            }
        }
        for (reader, number) in self.read[to].into_iter().enumerate() {
            self.order(world, stream, (reader, number));
        }
        world.mix(stream, to, from, value);
        self.kernels[stream] += 1;
        let number = self.kernels[stream];
        self.read[from][stream] = number;
        self.read[to] = [0; STREAMS];
        self.written[to] = Some((stream, number));
        self.expected[to] = mixed(self.expected[to], self.expected[from], value);
        if let Some(event) = records {
            self.record(world, event, stream);
        }
        if let Some((stream, event)) = waits {
            self.wait(world, stream, event);
        }
    }
}

fn raise(clock: &mut Clock, to: Clock) {
    clock.iter_mut().zip(to).for_each(|(own, other)| *own = (*own).max(other));
}

/// Runs the program of a seed, and returns whether its data is right.
fn is_right(seed: u64, is_eager: bool, left_out: Option<Omission>) -> bool {
    let random = &mut SplitMix::new(seed);
    let mut world = World::new(seed % SEEDS, left_out);
    let templates: Vec<Vec<Step>> = (0..1 + random.below(3))
        .map(|_| (0..2 + random.below(4)).map(|_| Step::drawn(random)).collect())
        .collect();
    let mut done = Done::default();
    // Two runs make passes in turn. Each run ends and begins again, and calls are made outside of passes in between.
    let mut runs = [std::mem::take(&mut world.run), ReplayRun::default()];
    if is_eager {
        runs.iter_mut().for_each(ReplayRun::set_eager);
    }
    let (mut which, mut run) = (0, 0);
    for _ in 0..8 + random.below(40) {
        if one_in(random, 3) {
            which = random.below(templates.len());
        }
        let mut steps = templates[which].clone();
        match random.below(8) {
            0 => steps.truncate(random.below(steps.len())),
            1 => steps.push(Step::drawn(random)),
            2 => steps.insert(random.below(steps.len()), Step::drawn(random)),
            _ => {}
        }
        let asks = one_in(random, 8)
            .then(|| (random.below(steps.len() + 1), random.below(4), one_in(random, 2)));
        // The index of the call before which another thread makes a call.
        let foreign = one_in(random, 12).then(|| random.below(steps.len() + 1));
        world.pass_of(&mut runs[run], |world| {
            for (place, step) in steps.iter().enumerate() {
                if let Some((at, event, waits)) = asks
                    && at == place
                {
                    done.ask(world, event, waits);
                }
                if foreign == Some(place) {
                    let other = || {
                        world.bind();
                        done.step(world, *step);
                    };
                    thread::scope(|scope| scope.spawn(other).join().unwrap());
                } else {
                    done.step(world, *step);
                }
            }
        });
        if one_in(random, 6) {
            if one_in(random, 2) {
                (0..STREAMS).for_each(|stream| world.finish(stream));
            }
            world.driver.leave(&mut runs[run]).unwrap();
        }
        if one_in(random, 6) {
            run = 1 - run;
        }
        // These calls are made outside of passes.
        while one_in(random, 4) {
            done.step(&world, Step::drawn(random));
        }
        if one_in(random, 16) {
            let stream = random.below(STREAMS);
            done.record_next(&world, stream);
        }
        if one_in(random, 8) {
            done.ask(&world, random.below(4), one_in(random, 2));
        }
    }
    (0..STREAMS).for_each(|stream| world.finish(stream));
    (0..CELLS).all(|cell| world.now(cell) == done.expected[cell])
}

/// The number of programs that the tests run: `STREAMFLOW_PROGRAMS`, or 600.
fn programs() -> u64 {
    let number = std::env::var("STREAMFLOW_PROGRAMS").ok();
    number.map_or(600, |number| number.parse().unwrap())
}

#[test]
fn random_programs_compute_what_their_calls_compute() {
    for seed in 0..programs() {
        for is_eager in [false, true] {
            assert!(is_right(seed, is_eager, None), "seed {seed}, eager: {is_eager}");
        }
    }
}

/// The control of the random programs: without any one of these rules, some program computes wrong data.
#[test]
fn random_programs_find_each_missing_rule() {
    use Omission::*;
    let rules = [
        Waits,
        Length,
        Edges,
        SentAfterLaunches,
        WaitsBeside,
        WaitsForLaunches,
        Answers,
        EarlierLaunches,
        SentBefore,
        SentMeanwhile,
        RecordedMeanwhile,
        RecordsOutside,
        RecordedAgain,
        RecordedAgainSent,
        OtherLanes,
        Conflicts,
        Parameters,
        Accesses,
        Answered,
        Threads,
    ];
    let is_found =
        |rule: &Omission| (0..30_000).any(|seed| !is_right(seed, seed % 2 == 1, Some(*rule)));
    let missed: Vec<_> = rules.iter().filter(|rule| !is_found(rule)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
