//! A parameter whose `Clone`, `Debug` and `Drop` read and set parameters of its own node.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Deserializer};
use streamflow::prelude::*;
use streamflow_tests::{Failed, check_equal};

/// What the parameter's code does next, once.
type Then = Box<dyn FnOnce() + Send>;

static IN_CLONE: Mutex<Option<Then>> = Mutex::new(None);
static IN_DEBUG: Mutex<Option<Then>> = Mutex::new(None);
static IN_DROP: Mutex<Option<Then>> = Mutex::new(None);
/// What that code has found.
static FOUND: AtomicU32 = AtomicU32::new(0);

fn call(then: &Mutex<Option<Then>>) {
    let then = then.lock().ok().and_then(|mut then| then.take());
    if let Some(then) = then {
        then();
    }
}

fn set(place: &Mutex<Option<Then>>, then: impl FnOnce() + Send + 'static) {
    if let Ok(mut place) = place.lock() {
        *place = Some(Box::new(then));
    }
}

/// A parameter value whose `Clone`, `Debug` and `Drop` call the function that was [`set`].
struct Level(u32);

impl Clone for Level {
    fn clone(&self) -> Self {
        call(&IN_CLONE);
        Self(self.0)
    }
}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        call(&IN_DEBUG);
        write!(f, "{}", self.0)
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        call(&IN_DROP);
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        u32::deserialize(from).map(Self)
    }
}

/// An operator that notes its parameter in each tick.
#[operator]
struct Gauge {
    #[output]
    level: u32,
    #[param]
    own: Level,
    seen: Vec<u32>,
}

impl Compute for Gauge {
    fn compute(&mut self, io: GaugeIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.seen.push(self.own.0);
        io.level.emit(self.own.0)
    }
}

graph! {
    struct Gauged(gauge: Gauge) {
        #[when(count(4))] let gauge: Gauge = gauge;
        gauge.level >> _;
    }
}

fn graph() -> Result<Gauged, Failed> {
    let gauge = Gauge::new(Level(1), Vec::new());
    Ok(Gauged::new(&Platform::host().build()?, gauge)?)
}

pub(crate) fn get_in_clone() -> Result<(), Failed> {
    let graph = graph()?;
    let handle = graph.params().clone();
    set(&IN_CLONE, move || FOUND.store(handle.gauge().own().0, Ordering::Relaxed));
    check_equal((graph.params().gauge().own().0, FOUND.load(Ordering::Relaxed)), (1, 1))
}

/// Checks that a value that is set while the node copies another value takes effect in a tick of its own.
pub(crate) fn set_in_clone() -> Result<(), Failed> {
    let mut graph = graph()?;
    graph.tick()?;
    let handle = graph.params().clone();
    handle.gauge().set_own(Level(2))?;
    set(&IN_CLONE, move || {
        let done = handle.gauge().set_own(Level(9));
        FOUND.store(u32::from(done.is_ok()), Ordering::Relaxed);
    });
    let report = graph.run()?;
    check_equal((&*graph.gauge().seen, FOUND.load(Ordering::Relaxed)), (&[1, 2, 9, 9][..], 1))?;
    let taken: Vec<_> =
        report.parameters.iter().map(|change| (change.tick, &*change.value)).collect();
    check_equal(taken, vec![(1, "2"), (2, "9")])
}

pub(crate) fn get_in_debug() -> Result<(), Failed> {
    let graph = graph()?;
    let handle = graph.params().clone();
    set(&IN_DEBUG, move || FOUND.store(handle.gauge().own().0, Ordering::Relaxed));
    let text = format!("{:?}", graph.params().gauge());
    check_equal((text.contains('1'), FOUND.load(Ordering::Relaxed)), (true, 1))
}

/// Checks drops: the field's old value is dropped while the node takes the new value over, and the handle's old
/// value while a file sets a new one.
pub(crate) fn load_in_drop() -> Result<(), Failed> {
    const FILE: &str = "[gauge]\nown = 5\n";
    let mut graph = graph()?;
    let again = graph.params().clone();
    set(&IN_DROP, move || {
        let done = again.load_params_str("again.toml", FILE);
        FOUND.fetch_add(u32::from(done.is_ok()), Ordering::Relaxed);
    });
    graph.load_params_str("first.toml", FILE)?;
    check_equal(FOUND.load(Ordering::Relaxed), 1)?;
    graph.params().gauge().set_own(Level(2))?;
    let (handle, again) = (graph.params().clone(), graph.params().clone());
    let loads = move || {
        set(&IN_DROP, move || {
            let done = again.load_params_str("again.toml", FILE);
            FOUND.fetch_add(u32::from(done.is_ok()), Ordering::Relaxed);
        });
        let done = handle.load_params_str("first.toml", FILE);
        FOUND.fetch_add(u32::from(done.is_ok()), Ordering::Relaxed);
    };
    set(&IN_DROP, loads);
    graph.run()?;
    check_equal(FOUND.load(Ordering::Relaxed), 3)?;
    check_equal(graph.gauge().seen.last(), Some(&5))
}
