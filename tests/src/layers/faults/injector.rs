//! A layer that makes one driver call fail as CUDA documents it, and counts live objects.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use streamflow::driver::{Driver, DriverError};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::Note;
use streamflow_driver::driver::Sticky;

use super::ledger::{Ledger, Live};
use super::{Code, functions};

/// Names one call of a program: the place of the call, its function, and how many calls of that function the place has
/// made before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The place: the phase of the program, the node and the hook (inside of a hook), and the program's line if it is
    /// known, such as `run: source1.compute, at seed_graph.rs:60`. For `bind` it also names the previous call.
    pub place: Arc<str>,
    /// The name of the driver call, as in [`CALLS`](super::CALLS).
    pub call: &'static str,
    /// How many calls of the same name the place has made before.
    pub nth: u64,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` number {} in `{}`", self.call, self.nth, self.place)
    }
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The function of CUDA that returns the error.
    pub function: &'static str,
    /// The error that is returned. A [sticky](Code::is_sticky) error is returned once, and all later calls are refused
    /// with it.
    pub code: Code,
    /// Whether the call does its work although it fails. Never set for calls that make something, nor for records and
    /// host functions: by the driver's contract, those have no effect when they fail.
    pub takes_effect: bool,
    /// Whether all later calls of the same kind fail as well, until [`Injector::disarm`].
    pub lasts: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effect = if self.takes_effect { ", though it takes effect" } else { "" };
        let lasts = if self.lasts { ", from then on" } else { "" };
        write!(f, "{} returns {}{effect}{lasts}", self.function, self.code.name)
    }
}

/// A text that each injected error contains.
pub const INJECTED: &str = "injected by a test";

/// The number of `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: i32 = 2;
/// The number of `CUDA_ERROR_DEINITIALIZED`.
pub(super) const DEINITIALIZED: i32 = 4;

/// A layer that makes one call fail, and counts all calls and live objects. After a sticky error the layer acts like
/// [`CudaDriver`](streamflow_driver::driver::cuda::CudaDriver): it refuses calls that submit or wait, and calls that give
/// something back do nothing.
pub struct Injector {
    pub(super) below: Arc<dyn Driver>,
    watches: bool,
    sticky: OnceLock<Sticky>,
    pub(super) state: Mutex<State>,
}

pub(super) struct State {
    phase: &'static str,
    /// The place in the program at which each thread is.
    places: HashMap<ThreadId, Place>,
    counts: BTreeMap<(Arc<str>, &'static str), u64>,
    armed: Option<(Target, Fault)>,
    has_fired: bool,
    pub(super) ledger: Ledger,
}

/// The place in the program at which a thread is.
struct Place {
    place: Arc<str>,
    /// The name of the thread's previous call.
    previous: &'static str,
}

impl State {
    /// Returns the place of the calling thread.
    fn here(&mut self) -> &mut Place {
        let phase = self.phase;
        let place = || Place { place: phase.into(), previous: "" };
        self.places.entry(thread::current().id()).or_insert_with(place)
    }
}

/// Whether a call gives something back. A driver that is shutting down has done that already, so the call's error does
/// not count (law 11).
pub fn gives_back(call: &str) -> bool {
    ["bind", "destroy_stream", "destroy_event", "destroy_graph", "free", "free_pinned"]
        .contains(&call)
}

/// What a call is about, for the error that it returns.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) call: &'static str,
    pub(super) device: DeviceId,
    /// The size, if the call allocates.
    pub(super) bytes: Option<u64>,
    /// The kernel's name, if the call loads a kernel.
    pub(super) kernel: Option<&'a str>,
}

/// What happens to a call.
pub(super) enum Verdict {
    Passes,
    /// The call does nothing, and succeeds.
    IsSkipped,
    /// The call does nothing, and fails.
    Fails(DriverError),
    /// The call does its work, and fails.
    TakesEffectAndFails(DriverError),
}

impl Injector {
    /// Creates the layer above a driver. With `watches`, the platform sends it notes, by which it knows the hooks; a race
    /// checker above this layer passes the notes on.
    pub fn new(below: Arc<dyn Driver>, watches: bool) -> Self {
        let state = State {
            phase: "",
            places: HashMap::new(),
            counts: BTreeMap::new(),
            armed: None,
            has_fired: false,
            ledger: Ledger::default(),
        };
        Self { below, watches, sticky: OnceLock::new(), state: Mutex::new(state) }
    }

    /// Makes the call that `target` names fail.
    pub fn arm(&self, target: Target, fault: Fault) {
        self.state().armed = Some((target, fault));
    }

    /// Lets all calls succeed from now on, except after a sticky error.
    pub fn disarm(&self) {
        self.state().armed = None;
    }

    /// Begins a phase of the program, which later places name.
    pub fn begin(&self, phase: &'static str) {
        let mut state = self.state();
        state.phase = phase;
        state.places.values_mut().for_each(|here| here.place = phase.into());
    }

    /// Whether a call has failed.
    pub fn has_fired(&self) -> bool {
        self.state().has_fired
    }

    /// Returns how many calls were made, by place and function.
    pub fn counts(&self) -> BTreeMap<(Arc<str>, &'static str), u64> {
        self.state().counts.clone()
    }

    /// Returns how many objects are alive.
    pub fn live(&self) -> Live {
        self.state().ledger.live()
    }

    /// Destroys and frees all live objects. Returns descriptions of the objects that the program gave back twice.
    pub fn clean_up(&self) -> Vec<String> {
        let mut ledger = std::mem::take(&mut self.state().ledger);
        let troubles = std::mem::take(&mut ledger.troubles);
        ledger.give_back(&*self.below);
        troubles
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sticky(&self) -> Option<Sticky> {
        self.sticky.get().cloned()
    }

    pub(super) fn is_watching(&self) -> bool {
        self.watches
    }

    /// Follows the program's hooks by the notes.
    pub(super) fn follow(&self, note: &Note<'_>) {
        let mut state = self.state();
        let phase = state.phase;
        let place = &mut state.here().place;
        match note {
            Note::Enter { node, hook, .. } => *place = format!("{phase}: {node}.{hook}").into(),
            Note::Leave => *place = phase.into(),
            Note::At(location) => {
                let file = location.file().rsplit(['/', '\\']).next().unwrap_or_default();
                let hook = place.split(", at ").next().unwrap_or_default();
                *place = format!("{hook}, at {file}:{}", location.line()).into();
            }
            _ => {}
        }
    }

    /// Counts a call, and decides whether the call fails.
    pub(super) fn judge(&self, about: About<'_>) -> Verdict {
        let About { call, device, .. } = about;
        if let Some(cause) = self.sticky.get() {
            let function = functions(call).first().map_or(call, |function| function.name);
            return Verdict::Fails(DriverError::Sticky { call: function, cause: cause.clone() });
        }
        let mut state = self.state();
        let here = state.here();
        let mut place = here.place.clone();
        let previous = std::mem::replace(&mut here.previous, call);
        if call == "bind" {
            // Most driver calls are preceded by `bind`. The call before the `bind` tells what it is for.
            place = format!("{place}, after {previous}").into();
        }
        let count = state.counts.entry((place.clone(), call)).or_default();
        let nth = *count;
        *count += 1;
        let Some((target, fault)) = &state.armed else { return Verdict::Passes };
        let is_it = *target == Target { place, call, nth };
        let is_later = state.has_fired && fault.lasts && target.call == call;
        if !is_it && !is_later {
            return Verdict::Passes;
        }
        let fault = *fault;
        state.has_fired = true;
        drop(state);
        // A driver that is shutting down has freed everything already, as the library's `check_given_back` assumes.
        if fault.code.number == DEINITIALIZED && gives_back(call) {
            return Verdict::IsSkipped;
        }
        let error = self.error(about, device, fault);
        if fault.takes_effect { Verdict::TakesEffectAndFails(error) } else { Verdict::Fails(error) }
    }

    /// Makes the error as `driver/cuda/error.rs` and `driver/cuda/module.rs` make it.
    fn error(&self, about: About<'_>, device: DeviceId, fault: Fault) -> DriverError {
        let Fault { function: call, code: Code { number: code, name }, .. } = fault;
        let message = INJECTED.to_owned();
        let name = name.to_owned();
        if fault.code.is_sticky() {
            let sticky = Sticky { call, code, name: name.clone(), message };
            let message = format!("{INJECTED}; start the process again");
            let _first = self.sticky.set(sticky);
            return DriverError::Call { call, device, code, name, message };
        }
        if let (OUT_OF_MEMORY, Some(requested)) = (code, about.bytes) {
            return DriverError::OutOfMemory { device, requested };
        }
        let is_load = ["cuModuleLoadDataEx", "cuModuleGetFunction"].contains(&call);
        if let (true, Some(kernel)) = (is_load, about.kernel) {
            let message = format!("{call}: {name} ({code}): {message}");
            return DriverError::Kernel { kernel: kernel.to_owned(), message };
        }
        DriverError::Call { call, device, code, name, message }
    }
}

impl fmt::Debug for Injector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injector").finish_non_exhaustive()
    }
}
