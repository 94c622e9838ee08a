//! The rows of the table: the workloads, and the modes in which streamflow runs them.

use streamflow::prelude::*;
use streamflow::stream::Assign;
use streamflow_tests::floor::{Layout, TaskGraph};

use crate::graphs::{self, Make};
use crate::kernels::Kernels;

/// How streamflow runs a graph, and with which program by hand this is compared.
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    pub(crate) pool: fn() -> CudaStreamPool,
    /// Whether the mode is compared with the program by hand that has fewer streams.
    pub(crate) is_planned: bool,
    /// Whether the graph's ticks are replayed.
    pub(crate) is_replayed: bool,
}

/// All modes that `--mode` knows.
pub(crate) const MODES: &[Mode] = &[
    Mode { name: "per operator", pool: CudaStreamPool::new, is_planned: false, is_replayed: false },
    Mode { name: "planned", pool: planned, is_planned: true, is_replayed: false },
    // This mode is compared with the program that has a stream for each operator: a replayed tick is one launch of a CUDA
    // graph, whatever streams there are.
    Mode { name: "replayed", pool: CudaStreamPool::new, is_planned: false, is_replayed: true },
    Mode { name: "planned replayed", pool: planned, is_planned: false, is_replayed: true },
];

fn planned() -> CudaStreamPool {
    CudaStreamPool::new().assign(Assign::Planned { depth: 2 })
}

/// A workload: the work of a tick that all forms implement.
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) work: Work,
    /// The stream layouts of the programs by hand. The first layout has a stream for each operator.
    pub(crate) layouts: &'static [Layout],
}

/// What a workload computes.
pub(crate) enum Work {
    /// NVIDIA's CudaStreamPool example with images of this shape. Its times are per tick.
    Seed([usize; 2]),
    /// A graph of tasks. Its times are per task.
    Tasks { graph: TaskGraph, make: Make, kernels: Kernels },
}

impl Workload {
    /// Returns by what a tick's time is divided: the number of tasks, or 1.
    pub(crate) fn parts(&self) -> usize {
        match &self.work {
            Work::Seed(_) => 1,
            Work::Tasks { graph, .. } => graph.len(),
        }
    }

    /// Returns how many operators the graph has.
    pub(crate) fn operators(&self) -> usize {
        match &self.work {
            Work::Seed(_) => 4,
            Work::Tasks { graph, .. } => graph.len(),
        }
    }

    pub(crate) fn kernels(&self) -> Kernels {
        match &self.work {
            Work::Seed(_) => Kernels::ForEachRead,
            Work::Tasks { kernels, .. } => *kernels,
        }
    }

    pub(crate) fn has_kernels(&self) -> bool {
        self.kernels().any()
    }
}

/// Returns all workloads, in the table's order.
pub(crate) fn all() -> Vec<Workload> {
    const CHAIN: &[Layout] = &[Layout::ByTask, Layout::OneStream];
    const PATTERN: &[Layout] = &[Layout::ByTask, Layout::ByColumn];
    const BY_TASK: &[Layout] = &[Layout::ByTask];
    let mut list = Vec::new();
    for [rows, cols] in [[1, 256], [128, 256], [2160, 3840]] {
        let name = format!("seed {rows}x{cols}");
        list.push(Workload { name, work: Work::Seed([rows, cols]), layouts: BY_TASK });
    }
    let mut add = |name: &str, graph: TaskGraph, make: Make, layouts: &'static [Layout]| {
        for (kernels, suffix) in [
            (Kernels::ForEachRead, ""),
            (Kernels::None, ", no kernels"),
            (Kernels::One, ", one kernel"),
        ] {
            // Only the patterns have a variant with one kernel: in a chain each task launches one kernel anyway.
            if kernels == Kernels::One && layouts != PATTERN {
                continue;
            }
            // A chain on one stream, without kernels, would make no driver calls at all, so that layout is left out.
            let is_chain = layouts == CHAIN && kernels == Kernels::None;
            list.push(Workload {
                name: format!("{name}{suffix}"),
                work: Work::Tasks { graph: graph.clone(), make, kernels },
                layouts: if is_chain { BY_TASK } else { layouts },
            });
        }
    };
    add("chain 16", TaskGraph::chain(16), graphs::chain16, CHAIN);
    add("chain 100", TaskGraph::chain(100), graphs::chain100, CHAIN);
    add("chain 500", TaskGraph::chain(500), graphs::chain500, CHAIN);
    add("fan 64", TaskGraph::fan(64), graphs::fan64, BY_TASK);
    let patterns: [(&str, Make); 6] = [
        ("trivial", graphs::trivial),
        ("tree", graphs::tree),
        ("dom", graphs::dom),
        ("fft", graphs::fft),
        ("stencil", graphs::stencil),
        ("random", graphs::random),
    ];
    for (name, make) in patterns {
        add(name, TaskGraph::pattern(name), make, PATTERN);
    }
    list
}
