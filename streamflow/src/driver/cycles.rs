//! A counter of the processor that advances at a steady rate: a cheaper look at the time than the system's clock.

use std::sync::LazyLock;

/// The processor's counter of cycles, where the operating system itself derives its clock from it: then it is one counter
/// for all cores, and advances at one rate, also while a core sleeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cycles(());

/// Which counter Linux derives its clock from. It checks the counters of all cores against each other, and chooses another
/// one if they differ.
const CHOSEN: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

static IS_STEADY: LazyLock<bool> = LazyLock::new(|| {
    cfg!(all(target_arch = "x86_64", target_os = "linux"))
        && std::fs::read_to_string(CHOSEN).is_ok_and(|chosen| chosen.trim() == "tsc")
});

impl Cycles {
    /// The counter; `None` where none is known to be steady.
    pub(crate) fn steady() -> Option<Self> {
        IS_STEADY.then_some(Self(()))
    }

    /// The count at this call. It orders nothing: the processor may read it some instructions early.
    #[inline]
    pub(crate) fn read(self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every processor of this architecture has the instruction.
        return unsafe { std::arch::x86_64::_rdtsc() };
        #[cfg(not(target_arch = "x86_64"))]
        return 0;
    }
}
