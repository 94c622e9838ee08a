//! The cost of a tick beyond the floor: streamflow in turns with the same work wired by hand, in one table.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench floor -- --help
//! ```
//!
//! `flags.rs` has the text of `--help`, `tests/benches/README.md` the method, and `PERFORMANCE.md` the numbers.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark")]

mod calls;
mod company;
mod counts;
mod cpp;
mod expect;
mod flags;
mod forms;
mod graphs;
mod kernels;
mod on_gpu;
mod on_host;
mod operators;
mod profile;
mod run;
mod table;
mod turns;
mod wired;
mod workloads;

use std::process::ExitCode;

use clap::Parser;
use indicatif::ProgressBar;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, Usage};
use streamflow_examples::progress;
use streamflow_tests::allocations::Counting;

use calls::Calls;
use cpp::NoCompiler;
use flags::Flags;
use on_gpu::OnGpu;
use on_host::OnHost;
use profile::Profile;
use table::Row;
use workloads::{Mode, Workload};

/// The global allocator, which counts the allocations of a tick.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let mut is_without_compiler = false;
    let code = cli::main(|| {
        let done = measure(&Flags::parse());
        is_without_compiler = done.as_ref().is_err_and(|failure| failure.is::<NoCompiler>());
        done
    });
    if is_without_compiler { ExitCode::from(3) } else { code }
}

fn measure(flags: &Flags) -> Result<()> {
    if flags.list {
        company::print_all();
        return Ok(());
    }
    let (workloads, modes) = (flags.workloads()?, flags.modes()?);
    if let Some(ticks) = flags.run_once {
        let [workload] = &workloads[..] else { return Ok(()) };
        return OnHost::new()?.run_once(workload, modes.first().copied(), ticks);
    }
    if let Some(ticks_behind) = flags.calls {
        return calls_of(flags, ticks_behind, &workloads, &modes);
    }
    if flags.profile {
        return profiles(flags, &workloads, &modes);
    }
    let platform = if flags.host_only { Platform::host().build()? } else { Platform::detect()? };
    if platform.name() == "host" && !flags.beside.is_empty() {
        return Err(Usage("`--beside` needs a GPU".into()).into());
    }
    if !flags.json {
        title(flags, &platform)?;
    }
    if flags.processes > 1 || !flags.beside.is_empty() {
        let lists = flags.of_processes(&workloads, &modes)?;
        let bar = progress::bar((flags.processes * lists.len()) as u64);
        let rows = table::of_processes(flags.processes, &lists, &bar)?;
        bar.finish_and_clear();
        rows.iter().enumerate().for_each(|(index, row)| row.print(flags.json, index == 0));
        return Ok(());
    }
    let mut printer = Printer { as_json: flags.json, is_first: true };
    if platform.name() == "host" {
        host_rows(flags, &workloads, &modes, &mut printer)
    } else {
        let gpu = OnGpu { floor: cpp::compile()?, platform };
        let company = flags.company()?;
        let rounds = 1 + usize::from(company.is_some());
        let bar = progress::bar((rounds * (flags.turns + 1) * workloads.len()) as u64);
        for (before, workload) in workloads.iter().enumerate() {
            let size = (flags.turns, flags.ticks);
            let mut rows = gpu.rows(workload, &modes, company, size, &bar)?;
            rows.iter_mut().for_each(|row| row.after(before));
            printer.print(&bar, &rows);
        }
        bar.finish_and_clear();
        Ok(())
    }
}

/// With `--calls`: counts driver calls instead of measuring times.
fn calls_of(
    flags: &Flags,
    ticks_behind: u64,
    workloads: &[Workload],
    modes: &[&Mode],
) -> Result<()> {
    if !flags.json {
        println!(
            "calls of the driver in a tick; the device is {ticks_behind} ticks behind the host"
        );
    }
    let bar = progress::bar((workloads.len() * modes.len()) as u64);
    let mut printer = Printer { as_json: flags.json, is_first: true };
    let calls = Calls::new(ticks_behind)?;
    for workload in workloads.iter().filter(|workload| on_host::is_own(workload)) {
        printer.print(&bar, &calls.rows(workload, modes, &bar)?);
    }
    bar.finish_and_clear();
    Ok(())
}

/// With `--profile`: measures each driver call instead of whole ticks.
fn profiles(flags: &Flags, workloads: &[Workload], modes: &[&Mode]) -> Result<()> {
    let bar = progress::bar((workloads.len() * modes.len()) as u64);
    let mut printer = Printer { as_json: flags.json, is_first: true };
    let profile = Profile::new(flags.host_only)?;
    for workload in workloads {
        printer.print(&bar, &profile.rows(workload, modes, flags.turns, &bar)?);
    }
    bar.finish_and_clear();
    Ok(())
}

fn host_rows(
    flags: &Flags,
    workloads: &[Workload],
    modes: &[&Mode],
    printer: &mut Printer,
) -> Result<()> {
    let host = OnHost::new()?;
    let list: Vec<_> = workloads.iter().filter(|workload| on_host::is_own(workload)).collect();
    let bar = progress::bar(((flags.turns + 1) * list.len()) as u64);
    for workload in list {
        let mut rows = host.rows(workload, modes, (flags.turns, flags.ticks), &bar)?;
        if flags.valgrind {
            for row in &mut rows {
                let counted = counts::by_valgrind(&workload.name, &row.form, workload.operators())?;
                row.set("instructions", counted);
            }
        }
        printer.print(&bar, &rows);
    }
    bar.finish_and_clear();
    if !flags.json && !flags.valgrind {
        println!("instructions: {}", host.counters());
    }
    Ok(())
}

/// Prints a title that says what was measured.
fn title(flags: &Flags, platform: &Platform) -> Result<()> {
    let (turns, processes) = (flags.turns, flags.processes);
    let of = match processes {
        0 | 1 => format!("medians of {turns} turns"),
        _ => format!("medians over {processes} processes of the medians of {turns} turns"),
    };
    if platform.name() == "host" {
        println!("the host's part alone, of each operator; {of}");
    } else {
        let device = &platform.device_info(device(0))?.name;
        println!(
            "{device}: microseconds of a tick (seed) or of a task (others), latency of a tick; {of}"
        );
    }
    Ok(())
}

/// Prints rows above the progress bar.
struct Printer {
    as_json: bool,
    is_first: bool,
}

impl Printer {
    fn print(&mut self, bar: &ProgressBar, rows: &[Row]) {
        bar.suspend(|| {
            for row in rows {
                row.print(self.as_json, std::mem::take(&mut self.is_first));
            }
        });
    }
}
