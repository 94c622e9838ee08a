//! Finds out whether a test can send signals. The tests of the examples include this file: this crate depends on
//! the examples, so they can't depend on it.

/// The signals of `stop_on_signals`, with their numbers on Linux.
const SIGNALS: [(&str, u32); 3] = [("SIGINT", 2), ("SIGHUP", 1), ("SIGTERM", 15)];

/// Returns a signal that this process ignores, and with it each program that it starts. SIGINT is ignored if a
/// script has started the process with `&`, and SIGHUP with `nohup`.
pub(crate) fn ignored() -> Option<&'static str> {
    // Only Linux has this file. Elsewhere a test of the ignored signal fails in such a script.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(ignored.trim(), 16).ok()?;
    // Bit 0 of the mask is the signal with number 1.
    let found = SIGNALS.into_iter().find(|(_, number)| mask >> (number - 1) & 1 == 1);
    found.map(|(name, _)| name)
}
