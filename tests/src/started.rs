//! Programs that a test starts. The tests of the examples include this file: this crate depends on the examples, so they can't
//! depend on it.

use std::env;
use std::ffi::OsString;
use std::process::Command;

/// A command that starts a program of this target as cargo starts a test: by the runner that `CARGO_TARGET_…_RUNNER` names. So an
/// emulator of the test's processor starts its programs, too.
pub(crate) fn program(path: impl Into<OsString>) -> Command {
    // Cargo's name for the target.
    let target = format!("{}_UNKNOWN_LINUX_GNU", env::consts::ARCH.to_uppercase());
    let runner = env::var(format!("CARGO_TARGET_{target}_RUNNER")).unwrap_or_default();
    let mut words: Vec<OsString> = runner.split_whitespace().map(Into::into).collect();
    words.push(path.into());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}
