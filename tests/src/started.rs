//! Starts programs from a test. The tests of the examples include this file as source: this crate depends on the
//! examples, so they can't depend on it.

use std::env;
use std::ffi::OsString;
use std::process::Command;

/// Returns a command that starts a program of this target as cargo starts a test: by the runner that
/// `CARGO_TARGET_…_RUNNER` names. So an emulator of the target's processor also runs the test's programs.
pub(crate) fn program(path: impl Into<OsString>) -> Command {
    // The name that cargo uses for the target.
    let target = format!("{}_UNKNOWN_LINUX_GNU", env::consts::ARCH.to_uppercase());
    let runner = env::var(format!("CARGO_TARGET_{target}_RUNNER")).unwrap_or_default();
    let mut words: Vec<OsString> = runner.split_whitespace().map(Into::into).collect();
    words.push(path.into());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}
