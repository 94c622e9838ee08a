//! Company: graphs that live in the same process as the measured forms, and run between their turns.

use streamflow::prelude::*;
use streamflow_examples::cli::Usage;

use crate::forms::{self, Form};
use crate::workloads::{self, MODES, Workload};

/// How many ticks each graph of a company runs before a turn.
pub(crate) const TICKS: u64 = 50;

/// A graph of a company: the name of its workload (`None` for the measured workload itself), and the name of its mode.
type Graph = (Option<&'static str>, &'static str);

/// A named set of graphs that live in a process next to the measured ones.
pub(crate) struct Company {
    pub(crate) name: &'static str,
    graphs: &'static [Graph],
}

const PLANNED_TWIN: Graph = (None, "planned");
const REPLAYED_TWIN: Graph = (None, "replayed");
const CHAIN: Graph = (Some("chain 16"), "per operator");

/// All companies that `--beside` knows.
const COMPANIES: &[Company] = &[
    Company { name: "planned twin", graphs: &[PLANNED_TWIN] },
    Company { name: "replayed twin", graphs: &[REPLAYED_TWIN] },
    Company { name: "chain 16", graphs: &[CHAIN] },
    Company {
        name: "stencils",
        graphs: &[
            (Some("stencil"), "per operator"),
            (Some("stencil, no kernels"), "per operator"),
            (Some("stencil, one kernel"), "per operator"),
        ],
    },
    Company { name: "three graphs", graphs: &[PLANNED_TWIN, REPLAYED_TWIN, CHAIN] },
];

impl Company {
    pub(crate) fn find(name: &str) -> Result<&'static Self> {
        COMPANIES.iter().find(|company| company.name == name).ok_or_else(|| {
            Usage(format!("no company is called {name:?}; `--list` prints all")).into()
        })
    }

    /// Makes the graphs of the company. `workload` is the measured workload.
    pub(crate) fn forms(
        &self,
        platform: &Platform,
        workload: &Workload,
    ) -> Result<Vec<Box<dyn Form>>> {
        let all = workloads::all();
        let form = |(name, mode): &Graph| {
            let workload = match name {
                None => Some(workload),
                Some(name) => all.iter().find(|workload| workload.name == *name),
            };
            let mode = MODES.iter().find(|known| known.name == *mode);
            let found = workload.zip(mode).ok_or_else(|| Failure::msg("no such graph"));
            found.and_then(|(workload, mode)| forms::streamed(platform, workload, mode))
        };
        self.graphs.iter().map(form).collect()
    }
}

/// Prints the names of workloads, modes and companies.
#[allow(clippy::print_stdout, reason = "a benchmark")]
pub(crate) fn print_all() {
    workloads::all().iter().for_each(|workload| println!("workload: {}", workload.name));
    MODES.iter().for_each(|mode| println!("mode: {}", mode.name));
    COMPANIES.iter().for_each(|company| println!("company: {}", company.name));
}
