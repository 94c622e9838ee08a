//! Tests of `stop_on_signals` and `stop_on_ctrl_c`. Each sends signals to a child process of its own.

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use streamflow::prelude::*;
use streamflow::schedule::{End, StoppedBy};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text, child};

use super::gate::{Gated, Latch, gate};
use super::signals::ignored as ignored_here;

const FIRST: &str = "first signal";
const STOPS: &str = "stops";
const SECOND: &str = "second signal";
const INTERRUPT_ALONE: &str = "Ctrl-C alone";
const IGNORED: &str = "ignored";
const AFTER: &str = "after the run";
const OTHER_HANDLER: &str = "another handler";

/// The environment variable that tells a child process which signal to send to itself.
const SIGNAL: &str = "STREAMFLOW_TEST_SIGNAL";

/// The signals, each with the exit code of a process that it ends, and with the `StoppedBy` of a run that it
/// stops.
const SIGNALS: [(&str, i32, StoppedBy); 3] = [
    ("INT", 130, StoppedBy::CtrlC),
    ("TERM", 143, StoppedBy::Signal("SIGTERM")),
    ("HUP", 129, StoppedBy::Signal("SIGHUP")),
];

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .optional("each_signal_stops_the_run_with_its_stop_hooks", "", || {
            unix(|| SIGNALS.into_iter().try_for_each(|(signal, _, by)| stops(signal, &by)))
        })
        .optional("the_first_signal_stops_every_run_that_asked_for_it", "", || {
            unix(|| child::run("running", FIRST, &[]))
        })
        .optional("another_signal_ends_the_process_with_its_exit_code", "", || {
            unix(|| {
                SIGNALS.into_iter().try_for_each(|(signal, code, _)| {
                    check_equal((signal, ended(SECOND, signal)?.code()), (signal, Some(code)))
                })
            })
        })
        .optional("ctrl_c_alone_leaves_other_signals_to_the_system", "", || {
            unix(|| check_equal(ended(INTERRUPT_ALONE, "TERM")?.code(), None))
        })
        .optional("another_handler_of_ctrl_c_is_called_as_well", "", || {
            linux(|| child::run("running", OTHER_HANDLER, &[]))
        })
        .optional("a_signal_after_the_run_ends_a_process_without_a_handler", "", || {
            unix(|| {
                SIGNALS.into_iter().try_for_each(|(signal, code, _)| {
                    check_equal((signal, ended(AFTER, signal)?.code()), (signal, Some(code)))
                })
            })
        })
        .optional("a_run_goes_on_where_a_signal_is_ignored", "", || {
            linux(|| {
                SIGNALS.into_iter().try_for_each(|(signal, _, _)| in_shell_that_ignores(signal))
            })
        })
}

/// Runs a test, unless signals can't be sent or would not arrive. Then it returns the reason for skipping the
/// test.
fn unix(test: impl FnOnce() -> Result<(), Failed>) -> Result<Option<String>, Failed> {
    if cfg!(not(unix)) {
        return Ok(Some("there are no signals".into()));
    }
    if let Some(signal) = ignored_here() {
        let why = format!("{signal} is ignored, as where a script uses `&` or `nohup`");
        return Ok(Some(why));
    }
    test().map(|()| None)
}

fn linux(test: impl FnOnce() -> Result<(), Failed>) -> Result<Option<String>, Failed> {
    if cfg!(target_os = "linux") {
        return unix(test);
    }
    Ok(Some("the library knows on Linux alone that a signal is ignored".into()))
}

/// Sends a signal to a process.
fn send(signal: &str, process: u32) -> Result<(), Failed> {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status()?;
    check(sent.success(), || format!("kill: {sent}"))
}

/// Sends a signal to this process.
fn raise(signal: &str) -> Result<(), Failed> {
    send(signal, process::id())
}

/// Returns the signal that the parent process has named in the environment.
fn named() -> Result<String, Failed> {
    env::var(SIGNAL).map_err(Failed::msg)
}

fn begin(role: &str, signal: &str) -> io::Result<Command> {
    let mut command = child::command("running", role)?;
    command.env(SIGNAL, signal).stderr(Stdio::null());
    Ok(command)
}

/// Returns the exit status of a child process that sends this signal to itself.
fn ended(role: &str, signal: &str) -> Result<ExitStatus, Failed> {
    Ok(begin(role, signal)?.stdout(Stdio::null()).status()?)
}

pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match role {
        FIRST => first(),
        STOPS => runs_until_stopped(),
        SECOND => hangs(),
        INTERRUPT_ALONE => interrupt_alone(),
        IGNORED => ignored(),
        AFTER => after(),
        _ => other_handler(),
    }
}

graph! {
    struct Endless {
        let numbers: Counter = Counter::new();
        numbers.number >> _;
    }
}

graph! {
    struct GatedNumbers(latch: Latch) {
        let gated: Gated = Gated::new(latch);
        gated.number >> _;
    }
}

/// An operator that prints a line in `start`, and one in `stop`.
#[operator]
struct Prints {
    #[output]
    number: u64,
}

impl Compute for Prints {
    fn compute(&mut self, io: PrintsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        Ok(writeln!(io::stdout(), "the stop hook was called")?)
    }
}

graph! {
    struct Printing {
        let prints: Prints = Prints::new();
        prints.number >> _;
    }
}

fn runs_until_stopped() -> Result<(), Failed> {
    let running = Printing::new(&Platform::host().build()?)?.spawn()?;
    running.stop_on_signals()?;
    writeln!(io::stdout(), "the graph runs")?;
    let report = running.join()?;
    writeln!(io::stdout(), "{:?}", report.end)?;
    Ok(write!(io::stdout(), "{report}")?)
}

fn stops(signal: &str, by: &StoppedBy) -> Result<(), Failed> {
    let mut child = begin(STOPS, signal)?.stdout(Stdio::piped()).spawn()?;
    let text = after_signal(&mut child, signal);
    if text.is_err() {
        // Ends a child that did not stop. It may have ended already, so the result is ignored.
        let _ended = child.kill();
    }
    let status = child.wait()?;
    let end = format!("{:?}", End::Stopped { by: by.clone() });
    let line = match by {
        StoppedBy::Signal(name) => format!("the run ended: {name} stopped it"),
        _ => "the run ended: Ctrl-C stopped it".to_owned(),
    };
    check_text(&text?, &["the stop hook was called", &end, &line])?;
    check_equal((signal, status.code()), (signal, Some(0)))
}

/// Sends a signal to a child process whose graph runs. Returns all text that the child prints.
fn after_signal(child: &mut Child, signal: &str) -> Result<String, Failed> {
    let mut text = String::new();
    let stdout = child.stdout.take().ok_or_else(|| Failure::msg("no pipe"))?;
    let mut stdout = BufReader::new(stdout);
    while !text.ends_with("the graph runs\n") {
        check(stdout.read_line(&mut text)? > 0, || text.clone())?;
    }
    send(signal, child.id())?;
    stdout.read_to_string(&mut text)?;
    Ok(text)
}

fn first() -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    let [one, two, other] = [(); 3].map(|()| Endless::new(&platform).and_then(Endless::spawn));
    let (one, two, other) = (one?, two?, other?);
    one.stop_on_ctrl_c()?;
    one.stop_on_ctrl_c()?;
    two.stop_on_ctrl_c()?;
    two.stop_on_signals()?;
    raise("TERM")?;
    let terminated = End::Stopped { by: StoppedBy::Signal("SIGTERM") };
    // SIGTERM also stops run `one`, which had asked for Ctrl-C alone.
    for running in [one, two] {
        check_equal(running.join()?.end, terminated.clone())?;
    }
    check(!other.is_over(), || "a run was stopped that had not asked".into())?;
    // SIGTERM still stops runs after the run that asked for it has ended.
    other.stop_on_ctrl_c()?;
    raise("TERM")?;
    check_equal(other.join()?.end, terminated)?;
    // Ctrl-C stops two runs at once.
    let [three, four] = [(); 2].map(|()| Endless::new(&platform).and_then(Endless::spawn));
    let (three, four) = (three?, four?);
    three.stop_on_signals()?;
    four.stop_on_ctrl_c()?;
    raise("INT")?;
    for running in [three, four] {
        check_equal(running.join()?.end, End::Stopped { by: StoppedBy::CtrlC })?;
    }
    Ok(())
}

/// Starts a child process that ignores a signal. A shell sets this, and a process inherits which signals are
/// ignored.
fn in_shell_that_ignores(signal: &str) -> Result<(), Failed> {
    let child = child::command("running", IGNORED)?;
    let script = format!("trap '' {signal}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(child.get_program()).args(child.get_args());
    shell.env(SIGNAL, signal);
    shell.envs([child::variable("running", IGNORED)]);
    check_equal((signal, shell.stdout(Stdio::null()).status()?.code()), (signal, Some(0)))
}

/// Checks that a signal which the process ignored at its start stops no run, and that another signal does.
fn ignored() -> Result<(), Failed> {
    let signal = named()?;
    let platform = Platform::host().build()?;
    let running = Endless::new(&platform)?.spawn()?;
    running.stop_on_signals()?;
    raise(&signal)?;
    running.stop_on_signals()?;
    let other = SIGNALS.into_iter().find(|(other, _, _)| *other != signal);
    let (other, _, by) = other.ok_or_else(|| Failure::msg("there are three signals"))?;
    raise(other)?;
    check_equal(running.join()?.end, End::Stopped { by })
}

/// The child process of a hook that never returns. The first signal can't stop the run, and the second one must
/// end the process.
fn hangs() -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    let (gate, latch) = gate();
    let running = GatedNumbers::new(&platform, latch)?.spawn()?;
    let gate = gate;
    gate.pass("start", 0)?;
    gate.wait("compute", 0)?;
    running.stop_on_signals()?;
    raise("INT")?;
    while running.pause().is_ok() {
        thread::yield_now();
    }
    raise(&named()?)?;
    drop(running);
    Err(Failure::msg("the process goes on"))
}

fn interrupt_alone() -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    let running = Endless::new(&platform)?.spawn()?;
    running.stop_on_ctrl_c()?;
    raise(&named()?)?;
    running.join()?;
    Err(Failure::msg("the process goes on"))
}

fn after() -> Result<(), Failed> {
    let running = Endless::new(&Platform::host().build()?)?.spawn()?;
    running.stop_on_signals()?;
    running.stop();
    running.join()?;
    raise(&named()?)?;
    loop {
        thread::park();
    }
}

/// Checks that the process goes on after each signal, since the program has its own handler. The second run shows
/// that the library has handled the signal between the runs, since signals are handled in order.
fn other_handler() -> Result<(), Failed> {
    let (called, calls) = channel();
    // The receiver may be gone when the test has ended, so the result is ignored.
    ctrlc::set_handler(move || _ = called.send(())).map_err(Failure::msg)?;
    let platform = Platform::host().build()?;
    for _ in 0..2 {
        let running = Endless::new(&platform)?.spawn()?;
        running.stop_on_signals()?;
        raise("INT")?;
        calls.recv()?;
        check_equal(running.join()?.end, End::Stopped { by: StoppedBy::CtrlC })?;
        // No run is active at this second signal.
        raise("INT")?;
        calls.recv()?;
    }
    Ok(())
}
