//! The parts that all programs share: flags, messages and exit codes.

use std::env;
use std::error::Error as StdError;
use std::io::{self, Write};
use std::iter;
use std::process::ExitCode;

use streamflow::graph::Graph;
use streamflow::platform::PlatformBuilder;
use streamflow::prelude::*;
use streamflow::schedule::Report;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use crate::report::Format;

/// The platform that the user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Choice {
    /// A GPU if there is a driver and a GPU, otherwise the host simulator.
    #[default]
    Auto,
    /// The host simulator.
    Host,
    /// A GPU.
    Cuda,
}

/// The flags that choose a platform.
#[derive(Debug, Clone, clap::Args)]
pub struct PlatformArgs {
    /// The platform to run on
    #[arg(long, value_enum, default_value_t)]
    pub platform: Choice,

    /// Seed of the host simulator: selects one of the permitted execution orders [default: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
}

/// The flags for graphs.
#[derive(Debug, Clone, clap::Args)]
pub struct GraphArgs {
    /// Print the graph as a Mermaid flowchart, and run nothing
    #[arg(long)]
    pub mermaid: bool,

    /// Print to stderr why the run ended, what each node did, how long it took, and which messages were dropped
    #[arg(long)]
    pub report: bool,

    /// Threads that run the graph [default: one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: Option<u16>,
}

impl GraphArgs {
    /// Sets the number of workers that the user has chosen.
    ///
    /// # Errors
    /// The graph's, if it can't have them.
    pub fn schedule<'g, G: Graph>(&self, graph: &'g mut G) -> Result<&'g mut G, Error> {
        match self.workers {
            Some(workers) => graph.workers(usize::from(workers)),
            None => Ok(graph),
        }
    }

    /// Prints the report of a run, if the user wants it.
    ///
    /// # Errors
    /// Those of stderr.
    pub fn print(&self, report: &Report) -> Result<(), Failure> {
        if self.report {
            write!(io::stderr(), "{report}")?;
        }
        Ok(())
    }
}

impl PlatformArgs {
    /// Starts the platform.
    ///
    /// # Errors
    /// [`Usage`] for a seed on a GPU, since a GPU takes none; the platform's, if it can't be started.
    pub fn open(&self) -> Result<Platform, Failure> {
        self.start(Platform::builder())
    }

    /// Starts the platform as [`open`](Self::open) does, for a graph with these flags: for a report, the platform keeps
    /// statistics.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_for(&self, graph: &GraphArgs) -> Result<Platform, Failure> {
        self.start(Platform::builder().statistics(graph.report))
    }

    fn start(&self, mut builder: PlatformBuilder) -> Result<Platform, Failure> {
        if let Some(seed) = self.seed {
            builder = builder.seed(seed);
        }
        match (self.platform, self.seed) {
            (Choice::Host, _) => Ok(builder.host()?),
            (Choice::Cuda, None) => Ok(builder.cuda()?),
            (Choice::Cuda, Some(_)) => Err(no_seed()),
            (Choice::Auto, seed) => {
                let platform = builder.detect()?;
                // A GPU does not use the seed.
                if seed.is_some() && platform.name() != "host" {
                    return Err(no_seed());
                }
                Ok(platform)
            }
        }
    }
}

fn no_seed() -> Failure {
    Usage("only the host simulator takes a seed: add `--platform host`".into()).into()
}

/// A wrong command line: the program ends with exit code 2. Any other failure ends the program with code 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Returns a failure, then the failure that caused it, and so on.
fn chain(failure: &Failure) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let first: &(dyn StdError + 'static) = &**failure;
    iter::successors(Some(first), |error| (*error).source())
}

/// Whether a write has failed because the reader of stdout has closed the pipe, as `head` does. That is not an error.
fn is_broken_pipe(failure: &Failure) -> bool {
    let mut errors = chain(failure).filter_map(|error| error.downcast_ref::<io::Error>());
    errors.any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes `error: …` and the causes of the failure. A cause is left out if the line before it contains its text already.
fn report(failure: &Failure, to: &mut impl Write) -> io::Result<()> {
    let (mut start, mut before) = ("error", String::new());
    for error in chain(failure) {
        let text = error.to_string();
        if before.contains(&text) {
            continue;
        }
        writeln!(to, "{start}: {text}")?;
        (start, before) = ("  caused by", text);
    }
    if failure.is::<Usage>() {
        writeln!(to, "\nFor more information, try '--help'.")?;
    }
    Ok(())
}

/// Runs a program. Logs go to stderr (`RUST_LOG` selects them). Failures become messages and exit codes. For mistakes that clap
/// finds, clap ends the process with code 2.
pub fn main(run: impl FnOnce() -> Result<(), Failure>) -> ExitCode {
    let wanted = env::var("RUST_LOG").ok().and_then(|targets| targets.parse().ok());
    let targets = wanted.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    // The call fails only if a subscriber is already set. That subscriber is then used.
    let _ = tracing_subscriber::registry().with(lines.with_filter(targets)).try_init();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if is_broken_pipe(&failure) => ExitCode::SUCCESS,
        Err(failure) => {
            // If stderr is closed too, no message can be written.
            let _ = report(&failure, &mut io::stderr().lock());
            ExitCode::from(if failure.is::<Usage>() { 2 } else { 1 })
        }
    }
}

/// Checks that an image fits into the address space.
///
/// # Errors
/// [`Usage`] if it does not.
pub fn check_size(rows: u32, cols: u32) -> Result<(), Failure> {
    let bytes = u64::from(rows).checked_mul(u64::from(cols)).and_then(|n| n.checked_mul(4));
    if bytes.is_none_or(|bytes| bytes > isize::MAX as u64) {
        let text = format!("no memory can hold {rows} rows of {cols} columns; choose fewer");
        return Err(Usage(text).into());
    }
    Ok(())
}

/// Prints the platform and its device, in the format for people.
///
/// # Errors
/// Those of the platform and of stdout.
pub fn say_where(platform: &Platform, format: Format) -> Result<(), Failure> {
    if format == Format::Human {
        let name = &platform.device_info(device(0))?.name;
        writeln!(io::stdout(), "running on {}: {name}", platform.name())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the outer one")]
    struct Outer(#[source] io::Error);

    fn text(failure: &Failure) -> String {
        let mut text = Vec::new();
        report(failure, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn causes_are_listed() {
        let failure = Failure::from(Outer(io::Error::other("the inner one")));
        assert_eq!(text(&failure), "error: the outer one\n  caused by: the inner one\n");
    }

    #[test]
    fn a_cause_is_not_written_twice() {
        let (node, hook, tick) = ("rx".to_owned(), "compute", 3);
        let cause = Outer(io::Error::other("the inner one")).into();
        let failure = Failure::from(Error::Operator { node, hook, tick, cause });
        let expected = "error: operator `rx` failed in `compute`, tick 3: the outer one\n  \
                        caused by: the inner one\n";
        assert_eq!(text(&failure), expected);
    }

    #[test]
    fn a_seed_for_a_gpu_is_a_usage_error() {
        let args = PlatformArgs { platform: Choice::Cuda, seed: Some(1) };
        let Err(failure) = args.open() else { panic!("a seed for a GPU was accepted") };
        assert!(failure.is::<Usage>(), "{failure:?}");
        assert!(text(&failure).starts_with("error: only the host simulator takes a seed"));
    }

    #[test]
    fn a_closed_pipe_is_recognised() {
        let closed = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        let (node, hook, tick) = ("rx".to_owned(), "compute", 3);
        let run = Failure::from(Error::Operator { node, hook, tick, cause: closed.clone() });
        assert!(is_broken_pipe(&closed) && is_broken_pipe(&run));
        assert!(!is_broken_pipe(&io::Error::other("full").into()));
    }
}
