//! The form that is wired by hand in CUDA C++, and its compilation with nvcc.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use streamflow::kernel::Kernel;
use streamflow::prelude::*;
use streamflow_examples::seed_app::{exp_linspace, multiply_sum_rows};
use streamflow_tests::floor::{ELEMENTS, Layout, Plan, TaskGraph, absorb, begin, tag, take};
use streamflow_tests::foreign::floor::{Argument, Buffer, Floor, Function, Program};

use crate::expect::Expected;
use crate::forms::{Form, WARM};
use crate::graphs::step;
use crate::kernels::Kernels;
use crate::run::Seconds;
use crate::workloads::{Work, Workload};

const SOURCE: &str = include_str!("by_hand.cpp");

/// The error on a machine that has a GPU, but no nvcc that compiles the programs by hand.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoCompiler {
    #[error(
        "no nvcc was found in the PATH, CUDA_HOME or /usr/local/cuda, and the programs by hand need it; install the CUDA \
         toolkit, set CUDA_HOME, or measure the host's part alone with `--host-only`"
    )]
    Missing,
    #[error("{nvcc} did not compile the programs by hand:\n{output}")]
    Refused { nvcc: String, output: String },
}

/// Compiles the programs by hand and loads them. Their source text is embedded in this binary. The compiled library is
/// written to a temporary directory.
pub(crate) fn compile() -> Result<Floor> {
    let nvcc = find_nvcc().ok_or(NoCompiler::Missing)?;
    let directory = tempfile::tempdir()?;
    let (source, library) = (directory.path().join("floor.cpp"), directory.path().join("floor.so"));
    fs::write(&source, SOURCE)?;
    let mut command = Command::new(&nvcc);
    command.args(["-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC"]);
    command.arg(&source).arg("-o").arg(&library);
    // On a machine without the developer files of the driver, the toolkit has a stub library to link with.
    if let Some(root) = nvcc.parent().and_then(Path::parent) {
        for stubs in ["lib64/stubs", "lib/stubs"] {
            command.arg("-L").arg(root.join(stubs));
        }
    }
    let output = command.arg("-lcuda").output()?;
    if !output.status.success() {
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(NoCompiler::Refused { nvcc: nvcc.display().to_string(), output }.into());
    }
    // The library is usable after its file is removed, since the process has it open.
    Floor::open(&library)
}

fn find_nvcc() -> Option<PathBuf> {
    let bin = |root: &OsStr| Path::new(root).join("bin");
    let path = env::var_os("PATH").unwrap_or_default();
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os);
    let toolkits = homes.map(|root| bin(&root)).chain([bin(OsStr::new("/usr/local/cuda"))]);
    env::split_paths(&path).chain(toolkits).map(|it| it.join("nvcc")).find(|it| it.is_file())
}

/// A workload as a program wired by hand in CUDA C++.
pub(crate) struct Cpp {
    name: &'static str,
    program: Program,
    expected: Expected,
    downloads: Vec<usize>,
    kernels: Kernels,
    /// The number of the last tick, by which its results are known.
    number: u32,
    next_tick: u64,
}

impl Cpp {
    /// Makes the streams, events, memory and kernels of a workload.
    pub(crate) fn new(
        floor: Floor,
        platform: &Platform,
        workload: &Workload,
        layout: Layout,
    ) -> Result<Self> {
        let info = platform.device_info(device(0))?;
        let ordinal = info.ordinal.unwrap_or(0);
        let builder = |reads: &[Vec<usize>], streams| {
            let program = Program::new(floor, ordinal, Plan::new(reads, streams))?;
            Ok::<_, Failure>(Builder { program, capability: info.compute_capability })
        };
        let name = match (&workload.work, layout) {
            (Work::Seed(_), _) => "C++",
            (_, Layout::ByTask) => "C++ by task",
            (_, Layout::ByColumn) => "C++ by column",
            (_, Layout::OneStream) => "C++ one stream",
        };
        let (program, downloads) = match &workload.work {
            Work::Seed(shape) => {
                let reads = [vec![], vec![], vec![0, 1], vec![2]];
                builder(&reads, vec![0, 1, 2, 3])?.seed(*shape)?
            }
            Work::Tasks { graph, .. } => {
                builder(&graph.reads, graph.streams(layout))?.tasks(graph, workload.kernels())?
            }
        };
        let (expected, kernels) = (Expected::new(&workload.work), workload.kernels());
        Ok(Self { name, program, expected, downloads, kernels, number: 0, next_tick: 0 })
    }

    /// Queues `ticks` ticks. `tick` is the number of the first one within the turn. With `keep`, the results of the last
    /// tick are downloaded.
    fn queue(&mut self, salt: u32, tick: u64, ticks: u64, keep: bool) -> Result<()> {
        // The program's own tick count goes on over all turns, so that buffers and events alternate. The results' numbers
        // begin with the salt in each turn.
        let first = self.next_tick;
        self.next_tick += ticks;
        self.number = self.kernels.number(salt, tick + ticks - 1);
        // The program adds its own tick count to the salt, so the count of the first tick is subtracted here. With one
        // constant parameter, nothing is added.
        let salt = self.kernels.number(salt, tick);
        let is_constant = self.kernels == Kernels::One;
        let salt = if is_constant { salt } else { salt.wrapping_sub(first as u32) };
        self.program.queue(first, ticks, salt, self.has_kernels(), keep)?;
        Ok(())
    }

    fn has_kernels(&self) -> bool {
        self.kernels.any()
    }

    fn results_blocking(&mut self) -> Result<Vec<Vec<u32>>> {
        if !self.has_kernels() {
            return Ok(Vec::new());
        }
        let (_, len) = self.expected.sizes();
        self.downloads.iter().map(|it| self.program.result_blocking(*it, len)).collect()
    }
}

impl Form for Cpp {
    fn name(&self) -> &str {
        self.name
    }

    fn batch(&mut self, salt: u32, ticks: u64) -> Result<Seconds> {
        self.program.poison_blocking()?;
        self.queue(salt, 0, WARM, false)?;
        let start = Instant::now();
        self.queue(salt, WARM, ticks, true)?;
        let queued = start.elapsed().as_secs_f64();
        self.program.finish_blocking()?;
        Ok((queued, self.has_kernels().then(|| start.elapsed().as_secs_f64())))
    }

    fn latencies(&mut self, salt: u32, ticks: u64) -> Result<Vec<f64>> {
        let mut times = Vec::new();
        for tick in 0..WARM + ticks {
            let start = Instant::now();
            self.queue(salt, tick, 1, true)?;
            self.program.finish_blocking()?;
            times.push(start.elapsed().as_secs_f64());
        }
        Ok(times.split_off(WARM as usize))
    }

    fn check(&mut self) -> Result<()> {
        let results = self.results_blocking()?;
        self.expected.check(self.name, self.number, &results)
    }

    fn is_wrong_without_order(&mut self, salt: u32) -> Result<Option<bool>> {
        // Only task graphs with kernels can be wrong. The image workload's kernels can't come late enough to be seen.
        if !self.has_kernels() || !matches!(self.expected, Expected::Tasks { .. }) {
            return Ok(None);
        }
        self.program.poison_blocking()?;
        self.program.break_order(true)?;
        self.queue(salt, 0, 1, true)?;
        let results = self.results_blocking()?;
        self.program.poison_blocking()?;
        self.program.break_order(false)?;
        Ok(Some(!self.expected.is_right(self.number, &results)))
    }
}

/// Adds tasks to a program wired by hand.
struct Builder {
    program: Program,
    capability: (u32, u32),
}

/// A finished program, and the indices of its downloads.
type Built = (Program, Vec<usize>);

impl Builder {
    fn function<K: Kernel>(&mut self) -> Result<Function> {
        self.program.function(K::INFO, self.capability)
    }

    fn seed(mut self, [rows, cols]: [usize; 2]) -> Result<Built> {
        use Argument::{TickStart, Value};
        let len = rows * cols;
        let (fill, sum) = (self.function::<exp_linspace>()?, self.function::<multiply_sum_rows>()?);
        let [a, b] = [self.program.buffer(4 * len)?, self.program.buffer(4 * len)?];
        let sums = self.program.buffer(4 * rows)?;
        let step = Value(step([rows, cols]).to_bits().into());
        for image in [a, b] {
            let task = self.program.task()?;
            let arguments = [Argument::Buffer(image), Value(len as u64), TickStart, step];
            self.program.launch(
                task,
                fill,
                (u32::try_from(len.div_ceil(256))?, 256),
                &arguments,
            )?;
        }
        let task = self.program.task()?;
        let slice = |buffer, len: usize| [Argument::Buffer(buffer), Value(len as u64)];
        let mut arguments = [slice(sums, rows), slice(a, len), slice(b, len)].concat();
        arguments.push(Value(cols as u64));
        self.program.launch(task, sum, (u32::try_from(rows)?, 256), &arguments)?;
        let task = self.program.task()?;
        let download = self.program.download(task, sums, true)?;
        Ok((self.program, vec![download]))
    }

    fn tasks(mut self, graph: &TaskGraph, kernels: Kernels) -> Result<Built> {
        use Argument::{Late, SaltBits, TickBits, Value};
        let first = self.function::<begin>()?;
        let (take, absorb) = (self.function::<take>()?, self.function::<absorb>()?);
        let (grid, len) = ((1, 32), Value(ELEMENTS as u64));
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut downloads = Vec::new();
        for (index, reads) in graph.reads.iter().enumerate() {
            let task = self.program.task()?;
            if graph.sink == Some(index) {
                for read in reads {
                    downloads.push(self.program.download(task, buffers[*read], false)?);
                }
                continue;
            }
            let buffer = self.program.buffer(4 * ELEMENTS)?;
            let out = [Argument::Buffer(buffer), len];
            if reads.is_empty() {
                let is_constant = kernels == Kernels::One;
                let bits = if is_constant { SaltBits(tag(index)) } else { TickBits(tag(index)) };
                let arguments = [out[0], out[1], bits, Late];
                self.program.launch(task, first, grid, &arguments)?;
            }
            for (place, read) in reads.iter().enumerate().take(kernels.reads(reads.len())) {
                let from = [Argument::Buffer(buffers[*read]), len, Value(tag(index).into())];
                let kernel = if place == 0 { take } else { absorb };
                self.program.launch(task, kernel, grid, &[&out[..], &from[..]].concat())?;
            }
            if graph.sink.is_none() && graph.results.contains(&index) {
                downloads.push(self.program.download(task, buffer, false)?);
            }
            buffers.push(buffer);
        }
        Ok((self.program, downloads))
    }
}
