//! The command-line flags, with the text that `--help` prints.

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::Usage;

use crate::company::Company;
use crate::workloads::{self, MODES, Mode, Workload};

/// Measures what a tick costs beyond the same work wired by hand.
///
/// With a GPU: host time, wall time and latency of graphs in turns with programs in CUDA C++, which are compiled here by
/// nvcc and launch the same compiled kernels. The results of each turn are compared with the host's. About two minutes
/// a process.
///
/// Without a GPU, or with --host-only: nanoseconds, instructions and heap allocations of an operator on a driver that does
/// nothing, beside the same program wired by hand on streamflow's streams. Less than a minute.
#[derive(Debug, Parser)]
#[command(name = "floor", after_help = EXIT_CODES)]
pub(crate) struct Flags {
    /// Workloads whose name has this text [default: all]; a name with `, no kernels` has events and waits alone
    #[arg(long, value_name = "TEXT")]
    workload: Vec<String>,
    /// Modes of streamflow with this name [default: all]
    #[arg(long, value_name = "NAME")]
    mode: Vec<String>,
    /// Turns of each form, whose median is printed
    #[arg(long, default_value_t = 41, value_name = "N", value_parser = positive)]
    pub(crate) turns: usize,
    /// Ticks of each turn [default: as many as have some thousand tasks]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) ticks: Option<u64>,
    /// Run so many processes for each mode, one after the other, and print the medians over them. In each the mode takes
    /// turns with the program by hand that it is compared with
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = positive)]
    pub(crate) processes: usize,
    /// Measure each workload and mode alone, and then beside graphs that live in the same process and run between its turns:
    /// `planned twin`, `replayed twin`, `chain 16`, `stencils`, `three graphs`, which are the first three. Each company has a
    /// process of its own. The column `over alone` is the ratio beside them, over the ratio alone; needs a GPU
    #[arg(long, value_name = "COMPANY", conflicts_with_all = ["host_only", "calls", "profile"])]
    pub(crate) beside: Vec<String>,
    /// The company of this process
    #[arg(long, hide = true)]
    company: Option<String>,
    /// Measure the host's part alone, also where there is a GPU
    #[arg(long)]
    pub(crate) host_only: bool,
    /// Count the calls of the driver in a tick, on a device that is so many ticks behind the host, and measure no times
    #[arg(long, value_name = "TICKS", num_args = 0..=1, default_missing_value = "3", conflicts_with = "processes")]
    pub(crate) calls: Option<u64>,
    /// Measure where the host's time goes: each kind of call of the driver, how often a part of a tick makes it and its
    /// nanoseconds, and the rest, which is streamflow's own
    #[arg(long, conflicts_with_all = ["processes", "calls"])]
    pub(crate) profile: bool,
    /// Count instructions with valgrind, which must be installed: minutes more, and the same numbers on a busy machine
    #[arg(long, requires = "host_only", conflicts_with = "processes")]
    pub(crate) valgrind: bool,
    /// Print a JSON object for each row
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the names of the workloads and the modes, and measure nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Run one form for so many ticks; valgrind counts it
    #[arg(long, hide = true)]
    pub(crate) run_once: Option<u64>,
    /// Added by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

const EXIT_CODES: &str = "Exit codes: 0 measured; 1 a failure, wrong results among them; 2 wrong flags; 3 there is a GPU, and \
                          no nvcc that compiles the programs by hand";

/// The value of `--mode` that selects no mode: only the program by hand runs.
const BY_HAND: &str = "by hand";

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a number of at least 1".into()),
    }
}

impl Flags {
    /// Returns the workloads that the flags choose.
    pub(crate) fn workloads(&self) -> Result<Vec<Workload>> {
        let mut list = workloads::all();
        let is_chosen = |name: &str| self.workload.iter().any(|text| name.contains(text.as_str()));
        // A child process gets whole names: such a name chooses only the workload of exactly this name.
        let whole = |name: &str| self.workload.iter().any(|text| text == name);
        if self.run_once.is_some() || self.company.is_some() {
            list.retain(|workload| whole(&workload.name));
        } else if !self.workload.is_empty() {
            list.retain(|workload| is_chosen(&workload.name));
        }
        if list.is_empty() {
            let text = format!("no workload is called {:?}; `--list` prints all", self.workload);
            return Err(Usage(text).into());
        }
        Ok(list)
    }

    /// Returns the modes that the flags choose.
    pub(crate) fn modes(&self) -> Result<Vec<&'static Mode>> {
        let is_known =
            |name: &String| name == BY_HAND || MODES.iter().any(|mode| mode.name == name);
        if let Some(name) = self.mode.iter().find(|name| !is_known(name)) {
            return Err(Usage(format!("no mode is called {name:?}; `--list` prints all")).into());
        }
        let is_chosen =
            |mode: &&Mode| self.mode.is_empty() || self.mode.iter().any(|name| name == mode.name);
        Ok(MODES.iter().filter(is_chosen).collect())
    }

    /// Returns the graphs that live in this process next to the measured ones.
    pub(crate) fn company(&self) -> Result<Option<&'static Company>> {
        self.company.as_deref().map(Company::find).transpose()
    }

    /// Returns the flags of each child process. Without `--beside`: one process for the programs by hand, and one for
    /// each mode with the program that it is compared with. With `--beside`: one process for each workload, mode and
    /// company. A process has one graph of a workload, as a real program does: each further graph has streams and memory
    /// of its own, which make CUDA's calls slower.
    pub(crate) fn of_processes(
        &self,
        workloads: &[Workload],
        modes: &[&Mode],
    ) -> Result<Vec<Vec<String>>> {
        let of = |workloads: &[String], mode: &str| {
            let mut flags = vec!["--turns".to_owned(), self.turns.to_string()];
            for name in workloads {
                flags.extend(["--workload".to_owned(), name.clone()]);
            }
            flags.extend(["--mode".to_owned(), mode.to_owned()]);
            flags.extend(self.ticks.map(|ticks| format!("--ticks={ticks}")));
            flags.extend(self.host_only.then(|| "--host-only".to_owned()));
            flags
        };
        if self.beside.is_empty() {
            let modes = [BY_HAND].into_iter().chain(modes.iter().map(|mode| mode.name));
            return Ok(modes.map(|mode| of(&self.workload, mode)).collect());
        }
        let companies = self.beside.iter().map(|name| Company::find(name));
        let companies = companies.collect::<Result<Vec<_>>>()?;
        let mut lists = Vec::new();
        for workload in workloads {
            for mode in modes {
                for company in &companies {
                    let mut flags = of(std::slice::from_ref(&workload.name), mode.name);
                    flags.extend(["--company".to_owned(), company.name.to_owned()]);
                    lists.push(flags);
                }
            }
        }
        Ok(lists)
    }
}
