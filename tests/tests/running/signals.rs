//! Whether a test can send SIGINT. The tests of the examples include this file: this crate depends on the examples, so they
//! can't depend on it.

/// Whether this process, and so each program that it starts, ignores SIGINT: what a script starts with `&` does.
pub(crate) fn ignores_interrupts() -> bool {
    // Linux alone has this file. Elsewhere a test of Ctrl-C fails in such a script.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGINT has number 2, so it is the second bit.
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 2 != 0)
}
