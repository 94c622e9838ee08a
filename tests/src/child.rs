//! Test bodies in a process of their own: for what outlives a test, as a dead CUDA context, or what
//! is read once, as an environment variable.
//!
//! The test binary runs itself again. Its `main` asks [`role`] first:
//!
//! ```no_run
//! # use std::process::ExitCode;
//! # use streamflow_tests::{Failed, Suite, child};
//! fn main() -> ExitCode {
//!     match child::role() {
//!         Some(role) => child::play(&role, |_role| Ok(())),
//!         None => Suite::new().plain("name", || child::run("role", &[])).run(),
//!     }
//! }
//! ```

use std::env;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use streamflow::prelude::*;

use crate::{Failed, check};

/// Which part the process plays.
const ROLE: &str = "STREAMFLOW_TEST_CHILD";

/// What a child prints when its body has passed and everything that it made was dropped.
const DONE: &str = "streamflow-test-child: done";

/// A child that runs longer hangs. Compiling a few kernels is well within it.
const LIMIT: Duration = Duration::from_secs(60);

/// The part that this process plays; `None` for the test binary as it was started.
pub fn role() -> Option<String> {
    env::var(ROLE).ok()
}

/// The child's side: runs a body, and says how it ended.
pub fn play(role: &str, body: impl FnOnce(&str) -> Result<(), Failed>) -> ExitCode {
    let (line, code) = match body(role) {
        Ok(()) => (DONE.to_owned(), ExitCode::SUCCESS),
        Err(failed) => (format!("failed: {failed}"), ExitCode::FAILURE),
    };
    // A parent that is gone reads no line, and the code tells the rest.
    let _ = writeln!(io::stdout(), "{line}");
    code
}

/// The parent's side: runs this binary again in a role, with more environment variables. It passes
/// when the child says so *and* then ends well: without a signal, within a time limit, exit code 0.
///
/// # Errors
/// How the child ended, and all that it said.
pub fn run(role: &str, variables: &[(&str, &str)]) -> Result<(), Failed> {
    let mut child = Command::new(env::current_exe()?)
        .env(ROLE, role)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // Read all the time: a full pipe would stop the child.
    let said = collect(child.stdout.take());
    let complained = collect(child.stderr.take());
    let ended = wait(&mut child)?;
    let (said, complained) = (text(said), text(complained));
    let passed = ended.as_ref().is_some_and(|code| *code == Some(0));
    check(passed && said.lines().any(|line| line == DONE), || {
        let ended = match ended {
            None => format!("was killed after {} s", LIMIT.as_secs()),
            Some(Some(code)) => format!("ended with exit code {code}"),
            Some(None) => "was ended by a signal".to_owned(),
        };
        format!("the child `{role}` {ended}\n--- stdout\n{said}\n--- stderr\n{complained}")
    })
}

/// The exit code, if it ended with one; `None` when it had to be killed.
fn wait(child: &mut Child) -> io::Result<Option<Option<i32>>> {
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code()));
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn collect(from: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still worth showing.
        let _ = from.map(|mut from| from.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn text(reader: JoinHandle<String>) -> String {
    reader.join().unwrap_or_else(|_| "(not read)".to_owned())
}

/// The platform that a role asks for: `cuda`, or a seed of the simulator.
///
/// # Errors
/// The platform's; a role that is neither.
pub fn platform(name: &str) -> Result<Platform, Failed> {
    if name == "cuda" {
        return Ok(Platform::cuda()?);
    }
    let seed = name.parse().map_err(|_| Failed::new(format!("{name:?} is no platform")))?;
    Ok(Platform::host().seed(seed).build()?)
}
