//! Runs test bodies in separate processes. This is for state that outlives a test, such as a dead CUDA context, or that a
//! process reads only once, such as an environment variable.
//!
//! The test binary starts itself again. Its [`Binary`](crate::Binary) then calls the function that plays the roles of the
//! suite.

use std::env;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use streamflow::prelude::*;

use crate::checks::{Failed, check};
use crate::started::program;

/// The environment variable that names the suite and the role of this process, as `suite::role`.
const ROLE: &str = "STREAMFLOW_TEST_CHILD";

/// The line that a child prints after its body has passed and everything that the body made has been dropped.
const DONE: &str = "streamflow-test-child: done";

/// How long a child may run. A child that runs longer is taken to hang, and is killed. Compiling a few kernels takes much
/// less.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the suite and the role of this process, or `None` in the test binary itself.
pub(crate) fn role() -> Option<(String, String)> {
    let value = env::var(ROLE).ok()?;
    let (suite, role) = value.split_once("::")?;
    Some((suite.to_owned(), role.to_owned()))
}

/// Returns the environment variable that makes a process of this binary play a role of a suite.
pub fn variable(suite: &str, role: &str) -> (&'static str, String) {
    (ROLE, format!("{suite}::{role}"))
}

/// Returns a command that starts this binary in a role of a suite.
///
/// # Errors
/// The system does not say which file this binary is.
pub fn command(suite: &str, role: &str) -> io::Result<Command> {
    let mut command = program(env::current_exe()?);
    command.envs([variable(suite, role)]);
    Ok(command)
}

/// The child's side: runs a body, prints its result, and returns the exit code.
pub(crate) fn play(body: impl FnOnce() -> Result<(), Failed>) -> ExitCode {
    let (line, code) = match body() {
        Ok(()) => (DONE.to_owned(), ExitCode::SUCCESS),
        Err(failed) => (format!("failed: {failed}"), ExitCode::FAILURE),
    };
    // Writing fails if the parent has ended. The exit code is still correct, so the error is ignored.
    let _ = writeln!(io::stdout(), "{line}");
    code
}

/// The parent's side: runs this binary again in a role of a suite, with more environment variables. The test passes if
/// the child prints that its body passed *and* then exits with code 0, within the time limit.
///
/// # Errors
/// How the child ended, with its stdout and stderr.
pub fn run(suite: &str, role: &str, variables: &[(&str, &str)]) -> Result<(), Failed> {
    let mut child = command(suite, role)?
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // Threads read both pipes at the same time: a full pipe would block the child.
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let ended = wait(&mut child)?;
    let (stdout, stderr) = (text(stdout), text(stderr));
    let passed = ended.as_ref().is_some_and(|code| *code == Some(0));
    check(passed && stdout.lines().any(|line| line == DONE), || {
        let ended = match ended {
            None => format!("was killed after {} s", LIMIT.as_secs()),
            Some(Some(code)) => format!("ended with exit code {code}"),
            Some(None) => "was ended by a signal".to_owned(),
        };
        format!("the child `{role}` {ended}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    })
}

/// Waits for the child, and kills it after the time limit. Returns `None` if it was killed, and `Some(None)` if a signal
/// ended it.
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
        // If reading fails, the bytes that were read before the error are used.
        let _ = from.map(|mut from| from.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn text(reader: JoinHandle<String>) -> String {
    reader.join().unwrap_or_else(|_| "(not read)".to_owned())
}

/// Returns the platform with this name: `cuda`, or a seed of the simulator.
///
/// # Errors
/// Those of the platform; an unknown name.
pub fn platform(name: &str) -> Result<Platform, Failed> {
    if name == "cuda" {
        return Ok(Platform::cuda()?);
    }
    let seed = name.parse().map_err(|_| {
        Failed::msg(format!("{name:?} is not a platform; the platforms are `cuda` and a seed"))
    })?;
    Ok(Platform::host().seed(seed).build()?)
}
