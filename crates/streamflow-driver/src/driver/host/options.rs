//! The options of a simulator: devices, seed, order of execution.

use std::sync::Arc;

use super::HostDriver;
use super::chooser::Chooser;
use crate::turns::Turns;

/// The policy that chooses, among all legal orders, the order in which the simulator executes queued work.
///
/// Each policy keeps CUDA's rules. A program with complete dependencies gives the same data under all policies; a program that
/// lacks a dependency gives wrong data under some policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Work executes at submission, in the order of submission, unless it has to wait.
    Eager,
    /// No work executes until a call blocks or queries; then only the work executes that this call depends on.
    Lazy,
    /// One stream, drawn by the seed among those in use, executes only the work that a call depends on. All other streams are
    /// eager.
    SlowestLast,
    /// Each call executes a random number of random runnable operations. A call that blocks
    /// executes random operations and needed ones, by chance, until it can return.
    Random,
}

impl Policy {
    /// Returns the policy of a seed: `seed % 8` is 0 for eager, 1 for lazy, 2 to 4 for slowest-last and 5 to 7 for random. Any
    /// eight seeds in a row cover all four policies.
    pub const fn of_seed(seed: u64) -> Self {
        match seed % 8 {
            0 => Self::Eager,
            1 => Self::Lazy,
            2..=4 => Self::SlowestLast,
            _ => Self::Random,
        }
    }
}

/// The devices' memory unless the builder says otherwise, in bytes.
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

/// Returns a number of devices if it is possible, and else the nearest possible number.
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
    /// The most devices of a simulator: more than any machine has. Each device has its own memory and streams.
    pub const MOST_DEVICES: usize = 64;

    /// Sets the number of devices: 1, the default, to [`MOST_DEVICES`](Self::MOST_DEVICES). With another number each call of
    /// the simulator is refused, so no platform can be made of it.
    pub fn devices(mut self, devices: usize) -> Self {
        self.devices = devices;
        self
    }

    /// Sets the seed, which chooses the order of execution; 0, eager, by default. The seed decides the policy (see
    /// [`Policy::of_seed`]), its random choices, and the other behaviour that CUDA leaves to a driver: see *Variants* in the
    /// [module](super). The same seed and the same calls from one thread give the same order.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Forces a policy; the seed then decides only the random choices.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Sets the bytes of memory of each device; 8 GiB by default. An allocation beyond that size fails, as on a real device.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the compute capability of each device, major and minor; 9.0 by default. The compute capability decides the shared
    /// memory that a block may have: the architecture's limit, or 48 KiB for an unknown architecture.
    pub fn compute_capability(mut self, major: u32, minor: u32) -> Self {
        self.compute_capability = (major, minor);
        self
    }

    /// Sets whether executed operations are logged for [`HostDriver::log`]; off by default.
    pub fn trace(mut self, trace: bool) -> Self {
        self.trace = trace;
        self
    }

    /// Sets the threads that take turns. Calls of other threads are refused.
    #[doc(hidden)]
    pub fn turns(mut self, turns: Arc<Turns>) -> Self {
        self.turns = Some(turns);
        self
    }

    /// Creates the simulator.
    pub fn build(self) -> HostDriver {
        HostDriver::new(&self, None)
    }

    /// Creates a simulator that executes in the order that `chooser` decides. After the end of choices the simulator is lazy.
    #[doc(hidden)]
    pub fn build_chosen(self, chooser: Box<dyn Chooser>) -> HostDriver {
        HostDriver::new(&self.policy(Policy::Lazy), Some(chooser))
    }
}
