//! The options of a simulator: devices, seed, order of execution.

use std::sync::Arc;

use super::HostDriver;
use super::chooser::Chooser;
use crate::turns::Turns;

/// The rule that chooses, among all legal orders, the order in which the simulator executes queued work.
///
/// Each policy keeps CUDA's rules. A program with complete dependencies gives the same data under all policies; a program that
/// lacks a dependency gives wrong data under some policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// An operation executes as soon as it is submitted, or as soon as the operations that it waits for have executed.
    Eager,
    /// No operation executes until a call blocks or queries. That call executes only the operations that it depends on.
    Lazy,
    /// A stream that the seed draws among those in use executes only operations that a call depends on. All other
    /// streams are eager.
    SlowestLast,
    /// Each call executes a random number of random operations that need not wait. A call that blocks executes both
    /// random operations and those that it needs, until it can return.
    Random,
}

impl Policy {
    /// Returns the policy of a seed: `seed % 8` is 0 for eager, 1 for lazy, 2 to 4 for slowest-last and 5 to 7 for random.
    /// Any eight consecutive seeds cover all four policies.
    pub const fn of_seed(seed: u64) -> Self {
        match seed % 8 {
            0 => Self::Eager,
            1 => Self::Lazy,
            2..=4 => Self::SlowestLast,
            _ => Self::Random,
        }
    }
}

/// The default size of each device's memory, in bytes.
const DEFAULT_MEMORY: u64 = 8 << 30;

/// Builds a [`HostDriver`]. See [`HostDriver::builder`].
#[derive(Debug, Clone)]
#[must_use = "call `build`"]
pub struct HostBuilder {
    pub(super) devices: usize,
    pub(super) seed: u64,
    pub(super) policy: Option<Policy>,
    pub(super) memory: u64,
    pub(super) compute_capability: (u32, u32),
    pub(super) trace: bool,
    pub(super) turns: Option<Arc<Turns>>,
}

/// Returns `devices` if a simulator can have that number of devices, else the nearest number that is possible.
pub(super) fn possible(devices: usize) -> usize {
    devices.clamp(1, HostBuilder::MOST_DEVICES)
}

impl Default for HostBuilder {
    fn default() -> Self {
        Self {
            devices: 1,
            seed: 0,
            policy: None,
            memory: DEFAULT_MEMORY,
            compute_capability: (9, 0),
            trace: false,
            turns: None,
        }
    }
}

impl HostBuilder {
    /// The most devices that a simulator can have: more than any machine has. Each device has its own memory and streams.
    pub const MOST_DEVICES: usize = 64;

    /// Sets the number of devices: 1, the default, to [`MOST_DEVICES`](Self::MOST_DEVICES). If the number is out of this
    /// range, the simulator refuses each call, so no platform can be made of it.
    pub fn devices(mut self, devices: usize) -> Self {
        self.devices = devices;
        self
    }

    /// Sets the seed, which chooses the order of execution. The default is 0, the eager policy. The seed decides the policy
    /// (see [`Policy::of_seed`]), its random choices, and the behaviour that CUDA leaves to a driver: see *Variants* in the
    /// [module](super). The same seed and the same calls from one thread give the same order.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the policy. The seed then decides all but the policy.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Sets the bytes of memory of each device; 8 GiB by default. An allocation beyond that size fails, as on a real device.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the compute capability of each device, major and minor; 9.0 by default. It decides how much shared memory a
    /// block may have: the architecture's limit, or 48 KiB for an unknown architecture.
    pub fn compute_capability(mut self, major: u32, minor: u32) -> Self {
        self.compute_capability = (major, minor);
        self
    }

    /// Sets whether executed operations are logged, to be read by [`HostDriver::log`]; off by default.
    pub fn trace(mut self, trace: bool) -> Self {
        self.trace = trace;
        self
    }

    /// Makes the threads of a test take turns. The simulator refuses calls of threads that are not in `turns`.
    #[doc(hidden)]
    pub fn turns(mut self, turns: Arc<Turns>) -> Self {
        self.turns = Some(turns);
        self
    }

    /// Creates the simulator.
    pub fn build(self) -> HostDriver {
        HostDriver::new(&self, None)
    }

    /// Creates a simulator that executes in the order that `chooser` decides. After [`HostDriver::end_choices`] the
    /// simulator is lazy.
    #[doc(hidden)]
    pub fn build_chosen(self, chooser: Box<dyn Chooser>) -> HostDriver {
        HostDriver::new(&self.policy(Policy::Lazy), Some(chooser))
    }
}
