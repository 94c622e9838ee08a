//! The build time of graphs of 10, 100 and 300 nodes, compared with the same steps wired by hand.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench build_time -- [rounds]
//! ```
//!
//! The benchmark generates programs of the same steps and builds them with `cargo build` in turns, after their
//! dependencies, each time with another number in every step. *clean* is without incremental compilation, *incremental*
//! is with it, after an earlier build. The result is the median of the CPU time, user and system, of cargo and its
//! child processes. Wall time also shows the other load of the machine. See `tests/benches/README.md`.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

mod programs;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, fs};

const NODES: [usize; 3] = [10, 100, 300];

/// Whether a program is built with incremental compilation, or without.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Clean,
    Incremental,
}

/// A program to build. `source` writes its text, with the given number in each step: a changed number makes the compiler
/// rebuild the steps.
struct Program {
    name: String,
    source: Box<dyn Fn(usize) -> String>,
}

/// The build times of one program, in seconds.
#[derive(Clone, Copy)]
struct Times {
    cpu: f64,
    wall: f64,
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn programs() -> Vec<Program> {
    let program = |name: String, source: Box<dyn Fn(usize) -> String>| Program { name, source };
    let mut list = vec![program("empty".into(), Box::new(|_| programs::empty()))];
    for nodes in NODES {
        let hand = Box::new(move |value| programs::by_hand(nodes, value));
        list.push(program(format!("by_hand_{nodes}"), hand));
        let operators = Box::new(move |value| programs::operators(nodes, value));
        list.push(program(format!("operators_{nodes}"), operators));
        let graph = Box::new(move |value| programs::graph(nodes, value));
        list.push(program(format!("graph_{nodes}"), graph));
    }
    list
}

fn measure() -> Result<(), Box<dyn Error>> {
    let rounds = env::args().skip(1).find_map(|text| text.parse().ok()).unwrap_or(5);
    // The folder of the generated workspace is not removed, so that the dependencies are built only once.
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build_time");
    let programs = programs();
    write_workspace(&root, &programs)?;
    println!("{rounds} rounds, {} processors", std::thread::available_parallelism()?);
    let mut medians: Vec<Vec<Times>> = Vec::new();
    for mode in [Mode::Clean, Mode::Incremental] {
        // The first build of each program is not measured: it builds the dependencies, and the incremental builds start
        // from it.
        for program in &programs {
            fs::write(main_file(&root, &program.name), (program.source)(1))?;
            build(&root, &program.name, mode)?;
        }
        let mut times: Vec<Vec<Times>> = programs.iter().map(|_| Vec::new()).collect();
        for round in 0..rounds {
            for (program, times) in programs.iter().zip(&mut times) {
                fs::write(main_file(&root, &program.name), (program.source)(2 + round))?;
                let (cpu, start) = (cpu_of_children()?, Instant::now());
                build(&root, &program.name, mode)?;
                let wall = start.elapsed().as_secs_f64();
                times.push(Times { cpu: cpu_of_children()? - cpu, wall });
            }
        }
        medians.push(times.into_iter().map(median).collect());
    }
    println!("{:<16}{:>16}{:>16}{:>18}", "", "clean: CPU", "wall", "incremental: CPU");
    for (index, program) in programs.iter().enumerate() {
        let (clean, incremental) = (medians[0][index], medians[1][index]);
        println!(
            "{:<16}{:>14.2} s{:>14.2} s{:>16.2} s",
            program.name, clean.cpu, clean.wall, incremental.cpu
        );
    }
    println!("a graph minus the steps by hand, and minus its operators:");
    for (index, nodes) in NODES.into_iter().enumerate() {
        let at = 1 + 3 * index;
        for (mode, medians) in ["clean", "incremental"].iter().zip(&medians) {
            let [hand, operators, graph] = [at, at + 1, at + 2].map(|at| medians[at].cpu);
            let (hand, operators) = (graph - hand, graph - operators);
            println!("{nodes:>4} nodes, {mode:<12} {hand:>+6.2} s {operators:>+6.2} s of CPU");
        }
    }
    Ok(())
}

fn median(mut times: Vec<Times>) -> Times {
    let mut middle = |part: fn(&Times) -> f64| {
        times.sort_by(|a, b| part(a).total_cmp(&part(b)));
        part(&times[times.len() / 2])
    };
    Times { cpu: middle(|times| times.cpu), wall: middle(|times| times.wall) }
}

/// Returns the CPU time of all ended child processes and their children, in seconds: the fields `cutime` and `cstime` of
/// proc(5), which count hundredths of a second.
fn cpu_of_children() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is the process name in parentheses, which may contain spaces. The fields after it begin behind the
    // last `)`.
    let (_, rest) = stat.rsplit_once(')').ok_or("/proc/self/stat has no process name")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks: f64 = fields[13].parse::<f64>()? + fields[14].parse::<f64>()?;
    Ok(ticks / 100.0)
}

fn main_file(root: &Path, package: &str) -> PathBuf {
    root.join(package).join("src/main.rs")
}

fn write_workspace(root: &Path, programs: &[Program]) -> Result<(), Box<dyn Error>> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let mut members = String::new();
    for Program { name, .. } in programs {
        write!(members, "{name:?}, ")?;
        fs::create_dir_all(root.join(name).join("src"))?;
        let manifest = format!(
            "[package]\nname = {name:?}\nedition = \"2024\"\n\n\
             [dependencies]\nstreamflow-gpu = {{ path = {:?} }}\n",
            repository.join("streamflow")
        );
        fs::write(root.join(name).join("Cargo.toml"), manifest)?;
        fs::write(main_file(root, name), "fn main() {}\n")?;
    }
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n");
    fs::write(root.join("Cargo.toml"), workspace)?;
    // The programs use the same versions of the dependencies as this repository, since these are downloaded already.
    fs::copy(repository.join("Cargo.lock"), root.join("Cargo.lock"))?;
    Ok(())
}

fn build(root: &Path, package: &str, mode: Mode) -> Result<(), Box<dyn Error>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let incremental = if mode == Mode::Incremental { "1" } else { "0" };
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--offline", "--package", package])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .env("CARGO_INCREMENTAL", incremental)
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{package}` does not build:\n{text}").into())
}
