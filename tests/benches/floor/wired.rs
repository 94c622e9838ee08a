//! The form that is wired by hand in Rust on streamflow's streams: the same streams, waits, records, memory and launches
//! as the graph. The difference to the graph is the cost of ports, queues and the scheduler.

use std::time::Instant;

use streamflow::prelude::*;
use streamflow::stream::Point;
use streamflow_examples::seed_app::{exp_linspace, multiply_sum_rows};
use streamflow_tests::floor::{ELEMENTS, Layout, Plan, SLOTS, TaskGraph, absorb, begin, tag, take};

use crate::expect::Expected;
use crate::forms::{Bits, Form, WARM};
use crate::graphs::step;
use crate::kernels::Kernels;
use crate::operators::{grid, start};
use crate::run::Seconds;
use crate::workloads::{Work, Workload};

/// A workload as a program wired by hand on streamflow's streams.
pub(crate) struct Wired {
    platform: Platform,
    streams: Vec<CudaStream>,
    plan: Plan,
    /// For each of the last ticks, the records of all tasks.
    records: [Vec<Option<Point>>; SLOTS],
    work: Tensors,
    expected: Expected,
    next_tick: u64,
    number: u32,
}

/// The output tensors of all tasks in the last tick.
enum Tensors {
    Seed {
        shape: [usize; 2],
        images: Vec<Tensor<f32>>,
        sums: Option<Tensor<f32>>,
        result: Option<Download<f32>>,
    },
    Tasks {
        graph: TaskGraph,
        kernels: Kernels,
        made: Vec<Tensor<u32>>,
        results: Vec<Download<u32>>,
    },
}

impl Wired {
    /// Allocates a stream for each task.
    pub(crate) fn new(platform: &Platform, workload: &Workload) -> Result<Self> {
        let (plan, work) = match &workload.work {
            Work::Seed(shape) => {
                let reads = [vec![], vec![], vec![0, 1], vec![2]];
                let (images, sums, result) = (Vec::new(), None, None);
                let work = Tensors::Seed { shape: *shape, images, sums, result };
                (Plan::new(&reads, vec![0, 1, 2, 3]), work)
            }
            Work::Tasks { graph, kernels, .. } => {
                let (graph, kernels) = (graph.clone(), *kernels);
                let plan = Plan::new(&graph.reads, graph.streams(Layout::ByTask));
                let (made, results) = (Vec::new(), Vec::new());
                (plan, Tensors::Tasks { graph, kernels, made, results })
            }
        };
        let pool = platform.stream_pool("by hand", &CudaStreamPool::new())?;
        let streams = (0..plan.stream_count()).map(|_| pool.allocate("a task"));
        let streams = streams.collect::<Result<_, Error>>()?;
        let records = [(); SLOTS].map(|()| vec![None; plan.streams.len()]);
        let (platform, expected) = (platform.clone(), Expected::new(&workload.work));
        Ok(Self { platform, streams, plan, records, work, expected, next_tick: 0, number: 0 })
    }

    fn tick(&mut self, number: u32, keep: bool) -> Result<()> {
        let records = &mut self.records[(self.next_tick % SLOTS as u64) as usize];
        self.next_tick += 1;
        self.number = number;
        for task in 0..self.plan.streams.len() {
            let stream = &self.streams[self.plan.streams[task]];
            for other in &self.plan.waits[task] {
                if let Some(point) = records[*other] {
                    stream.wait(point)?;
                }
            }
            self.work.run(&self.platform, stream, task, number, keep)?;
            if self.plan.records[task] {
                records[task] = Some(stream.record()?);
            }
        }
        Ok(())
    }

    /// Returns the number that distinguishes a tick within a turn, as `Run::number` does for the operators.
    fn number(&self, salt: u32, tick: u64) -> u32 {
        let kernels = match &self.work {
            Tensors::Seed { .. } => Kernels::ForEachRead,
            Tensors::Tasks { kernels, .. } => *kernels,
        };
        kernels.number(salt, tick)
    }

    fn wait_blocking(&self) -> Result<()> {
        match &self.work {
            Tensors::Seed { result, .. } => {
                result.iter().try_for_each(|it| it.wait_blocking().map(drop))?;
            }
            Tensors::Tasks { results, .. } => {
                results.iter().try_for_each(|it| it.wait_blocking().map(drop))?;
            }
        }
        Ok(())
    }
}

impl Tensors {
    fn run(
        &mut self,
        platform: &Platform,
        stream: &CudaStream,
        task: usize,
        number: u32,
        keep: bool,
    ) -> Result<()> {
        match self {
            Self::Seed { shape, images, sums, result } => match task {
                0 | 1 => {
                    let mut image = platform.tensor(*shape, stream)?;
                    let grid = Grid::elements(image.len()).threads(256);
                    let (start, step) = (start(number), step(*shape));
                    stream.launch::<exp_linspace>(grid, (&mut image, start, step))?;
                    put(images, task, image);
                }
                2 => {
                    let (a, b) = (&images[0], &images[1]);
                    let mut out = platform.tensor([a.rows()], stream)?;
                    let (grid, cols) = (Grid::blocks(a.rows()), a.cols() as u32);
                    stream.launch::<multiply_sum_rows>(grid, (&mut out, a, b, cols))?;
                    *sums = Some(out);
                }
                _ => {
                    if let Some(sums) = sums {
                        *result = Some(platform.download(sums, stream)?);
                    }
                }
            },
            Self::Tasks { graph, kernels, made, results } => {
                let has_kernels = kernels.any();
                if task == 0 {
                    results.clear();
                }
                let is_kept = has_kernels && keep;
                if graph.sink == Some(task) {
                    if is_kept {
                        for read in &graph.reads[task] {
                            results.push(platform.download(&made[*read], stream)?);
                        }
                    }
                    return Ok(());
                }
                let mut out = platform.tensor([ELEMENTS], stream)?;
                if has_kernels {
                    let reads = &graph.reads[task];
                    if reads.is_empty() {
                        stream.launch::<begin>(grid(), (&mut out, tag(task) ^ number, 0))?;
                    }
                    for (place, read) in reads.iter().enumerate().take(kernels.reads(reads.len())) {
                        let from = &made[*read];
                        match place {
                            0 => stream.launch::<take>(grid(), (&mut out, from, tag(task)))?,
                            _ => stream.launch::<absorb>(grid(), (&mut out, from, tag(task)))?,
                        }
                    }
                }
                if is_kept && graph.sink.is_none() && task > 0 {
                    results.push(platform.download(&out, stream)?);
                }
                put(made, task, out);
            }
        }
        Ok(())
    }
}

/// Replaces the output that the task made one tick ago.
fn put<T>(list: &mut Vec<T>, place: usize, value: T) {
    match list.get_mut(place) {
        Some(old) => *old = value,
        None => list.push(value),
    }
}

impl Form for Wired {
    fn name(&self) -> &str {
        "by hand"
    }

    fn batch(&mut self, salt: u32, ticks: u64) -> Result<Seconds> {
        for tick in 0..WARM {
            self.tick(self.number(salt, tick), false)?;
        }
        let start = Instant::now();
        for tick in 0..ticks {
            self.tick(self.number(salt, WARM + tick), tick + 1 == ticks)?;
        }
        let queued = start.elapsed().as_secs_f64();
        self.wait_blocking()?;
        Ok((queued, Some(start.elapsed().as_secs_f64())))
    }

    fn latencies(&mut self, salt: u32, ticks: u64) -> Result<Vec<f64>> {
        let mut times = Vec::new();
        for tick in 0..ticks {
            let start = Instant::now();
            self.tick(self.number(salt, tick), true)?;
            self.wait_blocking()?;
            times.push(start.elapsed().as_secs_f64());
        }
        Ok(times)
    }

    fn check(&mut self) -> Result<()> {
        let results = match &self.work {
            Tensors::Seed { result, .. } => {
                result.iter().map(|it| Ok(bits(it.wait_blocking()?))).collect::<Result<Vec<_>>>()
            }
            Tensors::Tasks { results, .. } => {
                results.iter().map(|it| Ok(bits(it.wait_blocking()?))).collect()
            }
        };
        self.expected.check("by hand", self.number, &results?)
    }
}

fn bits<T: Bits + Copy>(values: &[T]) -> Vec<u32> {
    values.iter().map(|value| value.bits()).collect()
}
