//! Host threads, each with its own streams and one half of a buffer. After each phase the threads exchange the
//! halves.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;
use streamflow_tests::layers::Mutate;
use streamflow_tests::layers::mutate::{AddOne, Fill, SlowCopy};
use streamflow_tests::random::Random;

use super::operators::WRONG;
use super::plan::LEN;

/// A program of several threads. A seed draws their interleaving, so it is the same in each run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threads {
    pub(crate) name: &'static str,
    order: u64,
}

pub(crate) const ALL: [Threads; 3] = [
    Threads { name: "two threads, an order", order: 1 },
    Threads { name: "two threads, another order", order: 2 },
    Threads { name: "two threads, a third order", order: 3 },
];

/// The state that a thread keeps over all phases.
struct Worker {
    number: usize,
    write: CudaStream,
    read: CudaStream,
    /// The download of the phase before, and its expected value.
    waiting: Option<(Download<f32>, f32)>,
}

impl Worker {
    fn new(platform: &Platform, number: usize) -> Result<Self> {
        let pool = platform.stream_pool("WORKER", &CudaStreamPool::new())?;
        let stream = |name: &str| pool.allocate(format!("{number}.{name}"));
        Ok(Self { number, write: stream("write")?, read: stream("read")?, waiting: None })
    }

    /// Adds two to the thread's half in two steps, and downloads the values between the steps.
    fn work(
        &mut self,
        turns: &Turns,
        platform: &Platform,
        half: &mut DeviceSlice<f32>,
        before: f32,
    ) -> Result<()> {
        let Self { number, write, read, waiting } = self;
        turns.step(*number, || write.launch::<AddOne>(LEN, (half,)))?;
        let mut copy = turns.step(*number, || platform.buffer::<f32>(LEN, read))?;
        turns.step(*number, || read.launch::<SlowCopy>(LEN, (&mut copy, half, 0)))?;
        turns.step(*number, || write.launch::<AddOne>(LEN, (half,)))?;
        turns.step(*number, || waiting.take().map_or(Ok(()), is_right))?;
        let download = turns.step(*number, || platform.download(&copy, read))?;
        *waiting = Some((download, before + 1.0));
        turns.step(*number, || drop(copy));
        Ok(())
    }
}

fn is_right((download, expected): (Download<f32>, f32)) -> Result<()> {
    let found = download.wait_blocking()?;
    if found.iter().all(|&value| value == expected) {
        return Ok(());
    }
    Err(Failure::msg(format!("{WRONG}: {found:?}, not {expected}")))
}

impl Threads {
    /// Runs the program. Wrong data is an error that begins with [`WRONG`].
    pub(crate) fn run(
        self,
        phases: usize,
        platform: &Platform,
        layer: &Mutate,
        end: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        layer.enter(0, "start");
        let main = platform.stream_pool("MAIN", &CudaStreamPool::new())?.allocate("main")?;
        let mut data = platform.buffer::<f32>(2 * LEN, &main)?;
        main.launch::<Fill>(2 * LEN, (&mut data, 0.0))?;
        let mut workers = vec![Worker::new(platform, 1)?, Worker::new(platform, 2)?];
        let done = (0..phases).try_for_each(|phase| {
            workers =
                self.phase(phase, platform, layer, &mut data, std::mem::take(&mut workers))?;
            layer.enter(0, "between");
            // In every second phase, the main thread checks the whole buffer.
            if phase % 2 == 1 {
                let expected = 2.0 * (phase + 1) as f32;
                is_right((platform.download(&data, &main)?, expected))?;
            }
            Ok(())
        });
        layer.enter(0, "end");
        let read = |worker: &mut Worker| worker.waiting.take().map_or(Ok(()), is_right);
        let done = done.and_then(|()| workers.iter_mut().try_for_each(read));
        let races = platform.take_races();
        let done = if races.is_empty() { done } else { Err(Error::Races(races).into()) };
        done.and(end())
    }

    /// Gives each thread one half of the buffer, in alternating order.
    fn phase(
        self,
        phase: usize,
        platform: &Platform,
        layer: &Mutate,
        data: &mut Buffer<f32>,
        mut workers: Vec<Worker>,
    ) -> Result<Vec<Worker>> {
        let Some((left, right)) = data.split_at_mut(LEN) else {
            return Err(Failure::msg("the buffer can't be split"));
        };
        workers.rotate_left(1);
        let turns = &Turns::new(self.order + 10 * phase as u64, workers.len());
        let before = 2.0 * phase as f32;
        let done: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = workers
                .into_iter()
                .zip([left, right])
                .map(|(mut worker, mut half)| {
                    scope.spawn(move || {
                        layer.enter(worker.number, &format!("phase {}", phase.min(3)));
                        let _leave = LeaveOnDrop(turns, worker.number);
                        let done = worker.work(turns, platform, &mut half, before);
                        done.map(|()| worker)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        layer.joined();
        let of = |done: thread::Result<Result<Worker>>| {
            done.unwrap_or_else(|_| Err(Failure::msg("a thread has panicked")))
        };
        done.into_iter().map(of).collect()
    }
}

/// Lets one thread at a time make a step. A seed draws the next thread among those that are still running.
struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    random: Random,
    /// The numbers of the threads that are still running.
    running: Vec<usize>,
    next: usize,
}

impl State {
    fn draw(&mut self) {
        if !self.running.is_empty() {
            self.next = self.running[self.random.below(self.running.len())];
        }
    }
}

impl Turns {
    /// Returns turns for the threads 1 to `count`.
    fn new(seed: u64, count: usize) -> Self {
        let mut state =
            State { random: Random::new(seed), running: (1..=count).collect(), next: 0 };
        state.draw();
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn turn_of(&self, thread: usize) -> MutexGuard<'_, State> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(state, |state| state.next != thread);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn step<T>(&self, thread: usize, step: impl FnOnce() -> T) -> T {
        let mut state = self.turn_of(thread);
        let done = step();
        state.draw();
        self.changed.notify_all();
        done
    }
}

/// Removes its thread from the turns when it is dropped.
struct LeaveOnDrop<'a>(&'a Turns, usize);

impl Drop for LeaveOnDrop<'_> {
    fn drop(&mut self) {
        let mut state = self.0.turn_of(self.1);
        state.running.retain(|thread| *thread != self.1);
        state.draw();
        self.0.changed.notify_all();
    }
}
