//! Counts instructions, by the processor's counters where the machine has them, or by valgrind.

use std::env;
use std::process::Command;

use streamflow::prelude::*;

/// A counter of the instructions of this process, without those of the operating system's kernel.
pub(crate) struct Counter {
    #[cfg(target_os = "linux")]
    counter: perf_event::Counter,
}

impl Counter {
    /// Starts to count.
    ///
    /// # Errors
    /// The machine has no counters, or does not permit their use.
    #[cfg(target_os = "linux")]
    pub(crate) fn open() -> Result<Self> {
        use perf_event::Builder;
        use perf_event::events::Hardware;

        let mut counter = Builder::new(Hardware::INSTRUCTIONS).exclude_kernel(true).build()?;
        counter.enable()?;
        Ok(Self { counter })
    }

    /// Returns the number of instructions executed so far.
    #[cfg(target_os = "linux")]
    pub(crate) fn read(&mut self) -> Result<u64> {
        Ok(self.counter.read()?)
    }

    /// Other systems have no counters.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn open() -> Result<Self> {
        Err(Failure::msg("counters are read on Linux alone"))
    }

    /// Never called, since `open` always fails here.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn read(&mut self) -> Result<u64> {
        Err(Failure::msg("counters are read on Linux alone"))
    }
}

/// Returns the instructions per operator and tick, counted by valgrind. This program runs one form under valgrind twice,
/// with different numbers of ticks. The difference leaves only the ticks' own instructions.
pub(crate) fn by_valgrind(workload: &str, mode: &str, operators: usize) -> Result<f64> {
    let few = (600 / operators).max(2) as u64;
    let many = 3 * few;
    let [few_counted, many_counted] = [few, many].map(|ticks| count(workload, mode, ticks));
    let more = many_counted?.saturating_sub(few_counted?);
    Ok(more as f64 / (many - few) as f64 / operators as f64)
}

fn count(workload: &str, mode: &str, ticks: u64) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(env::current_exe()?).args(["--host-only", "--workload", workload]);
    command.args(["--mode", mode, "--run-once", &ticks.to_string()]);
    let output = command.output().map_err(|error| {
        Failure::msg(format!(
            "valgrind was not started ({error}); install it, or leave `--valgrind` out"
        ))
    })?;
    let text = String::from_utf8_lossy(&output.stderr);
    // valgrind prints `==1== I   refs:      1,234`, or `I refs:` in newer versions.
    let line = text.lines().find(|line| line.contains("refs:"));
    let number = line
        .and_then(|line| line.split("refs:").nth(1))
        .map(|number| number.chars().filter(char::is_ascii_digit).collect::<String>());
    match number.and_then(|number| number.parse().ok()) {
        Some(number) if output.status.success() => Ok(number),
        _ => Err(Failure::msg(format!("valgrind has counted nothing:\n{text}"))),
    }
}
