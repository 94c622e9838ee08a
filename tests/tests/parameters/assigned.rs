//! Checks that a run fails if a hook assigns a parameter, and that a program may change the field between runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::{Failed, Suite, check, check_equal};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_parameter_that_compute_assigns_fails_its_first_tick", in_the_first_tick)
        .both("a_parameter_that_start_assigns_fails_the_start", in_start)
        .both("a_parameter_that_a_later_tick_assigns_fails_the_end_of_the_run", in_a_later_tick)
        .both("a_parameter_that_stop_assigns_fails_the_end_of_the_run", in_stop)
        .both("an_assigned_parameter_is_not_overwritten_silently", before_it_is_set)
        .both("a_parameter_that_is_assigned_its_own_value_is_right", its_own_value)
        .both("a_parameter_that_is_no_number_is_right", no_number)
        .both("a_node_that_skips_failures_loses_its_first_tick_and_fails_at_the_end", skipped)
        .both(
            "a_parameter_that_the_first_tick_after_a_restart_assigns_fails_that_tick",
            after_a_restart,
        )
        .both("a_fresh_operator_after_a_restart_has_the_value_that_is_set_meanwhile", restarted)
}

/// Where in its code the operator assigns its parameter.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Nowhere,
    Start,
    Tick(u64),
    Stop,
}

/// An operator that sends its gain.
#[operator]
struct Gain {
    #[output]
    gain: f32,
    #[param]
    value: f32,
    assigned: f32,
    place: Place,
}

impl Gain {
    fn assign_at(&mut self, here: Place) {
        if self.place == here {
            self.value = self.assigned;
        }
    }
}

impl Compute for Gain {
    fn start(&mut self, _: GainStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.assign_at(Place::Start);
        Ok(())
    }

    fn compute(&mut self, io: GainIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.assign_at(Place::Tick(cx.tick()));
        io.gain.emit(self.value)
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.assign_at(Place::Stop);
        Ok(())
    }
}

/// An operator that keeps the gains that it receives.
#[operator]
struct Keep {
    #[input]
    gain: f32,
    kept: Vec<f32>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.kept.push(io.gain.receive().into_data());
        Ok(())
    }
}

graph! {
    struct Amplifier(gain: Gain) {
        #[when(count(3))]
        let gain: Gain = gain;
        let keep: Keep = Keep::new(Vec::new());
        gain.gain >> keep.gain;
    }
}

graph! {
    struct Skipping(gain: Gain) {
        #[when(count(3))] #[on_failure(skip)]
        let gain: Gain = gain;
        let keep: Keep = Keep::new(Vec::new());
        gain.gain >> keep.gain;
    }
}

graph! {
    struct Restarting(made: Arc<AtomicU64>, handle: Arc<OnceLock<RestartingHandle>>) {
        #[when(count(3))] #[on_failure(restart(2, 1ms))]
        let gain: Gain = Gain::new(0.5, 1.5, place_of_next(&made, &handle));
        let keep: Keep = Keep::new(Vec::new());
        gain.gain >> keep.gain;
    }
}

fn assigning(place: Place) -> Gain {
    Gain::new(0.5, 1.5, place)
}

/// Checks that the run fails with an error that has the parameter's name and both values.
fn check_refused(done: Result<impl Sized, Error>, values: (&str, &str)) -> Result<(), Failed> {
    let Err(error) = done else { return Err(Failed::msg("the run succeeded")) };
    let text = error.to_string();
    let expected = format!(
        "assigned its parameter `value`: the field is {}, and the handles and the report say {}; a \
         parameter is set through a handle, so keep what the operator changes in a field without `#[param]`",
        values.0, values.1
    );
    check(text.contains(&expected), || format!("another error: {text}"))
}

fn in_the_first_tick(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Amplifier::new(platform, assigning(Place::Tick(0)))?;
    check_refused(graph.run(), ("1.5", "0.5"))?;
    check_equal(&graph.keep().kept, &Vec::new())
}

/// An operator that fails in tick 0, and assigns its parameter in the next tick, which a new operator does after
/// the restart.
#[operator]
struct Fails {
    #[output]
    gain: f32,
    #[param]
    value: f32,
}

impl Compute for Fails {
    fn compute(&mut self, io: FailsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        match cx.tick() {
            0 => return Err(Failure::msg("tick 0 fails")),
            1 => self.value = 1.5,
            _ => {}
        }
        io.gain.emit(self.value)
    }
}

graph! {
    struct Again {
        #[when(count(9))] #[on_failure(restart(2, 1ms))]
        let fails: Fails = Fails::new(0.5);
        let keep: Keep = Keep::new(Vec::new());
        fails.gain >> keep.gain;
    }
}

/// Checks that a restart makes another operator after the error, and that no operator sends the assigned value.
fn after_a_restart(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Again::new(platform)?;
    let report = graph.run()?;
    check_equal(&graph.keep().kept, &vec![0.5; 7])?;
    let node = report.nodes.iter().find(|node| node.name == "fails");
    check_equal(node.map(|node| (node.failures, node.restarts)), Some((2, 2)))
}

fn in_start(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Amplifier::new(platform, assigning(Place::Start))?;
    let done = graph.run();
    let is_of_start = done.as_ref().is_err_and(|error| error.to_string().contains("`start`"));
    check_refused(done, ("1.5", "0.5"))?;
    check(is_of_start, || "another hook failed".into())?;
    check_equal(&graph.keep().kept, &Vec::new())
}

fn in_a_later_tick(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Amplifier::new(platform, assigning(Place::Tick(1)))?;
    check_refused(graph.run(), ("1.5", "0.5"))?;
    // The next run begins with the field's value, as after any change of the field between runs.
    let handle = graph.params();
    graph.run()?;
    check_equal(handle.gain().value(), 1.5)
}

fn in_stop(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Amplifier::new(platform, assigning(Place::Stop))?;
    check_refused(graph.run(), ("1.5", "0.5"))?;
    check_equal(&graph.keep().kept, &vec![0.5; 3])
}

fn before_it_is_set(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Gain::new(0.5, 1.5, Place::Tick(1)))?;
    harness.tick()?;
    harness.params().set_value(0.75)?;
    harness.tick()?;
    harness.params().set_value(0.25)?;
    check_refused(harness.tick(), ("1.5", "0.75"))
}

fn its_own_value(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Amplifier::new(platform, Gain::new(0.5, 0.5, Place::Tick(0)))?;
    graph.run()?;
    check_equal(&graph.keep().kept, &vec![0.5; 3])
}

fn no_number(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Amplifier::new(platform, Gain::new(f32::NAN, 1.5, Place::Nowhere))?;
    graph.run()?;
    check(graph.keep().kept.iter().all(|gain| gain.is_nan()), || "a number".into())
}

fn skipped(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Skipping::new(platform, assigning(Place::Tick(0)))?;
    // The field still differs from the set value when the run ends.
    check_refused(graph.run(), ("1.5", "0.5"))?;
    check_equal(&graph.keep().kept, &vec![1.5; 2])
}

/// Returns where the next operator assigns its parameter: only the first operator does. When the second operator
/// is made, another value is set, which its first tick has.
fn place_of_next(made: &AtomicU64, handle: &OnceLock<RestartingHandle>) -> Place {
    if made.fetch_add(1, Ordering::SeqCst) == 0 {
        return Place::Tick(0);
    }
    let _ = handle.get().map(|handle| handle.gain().set_value(0.75));
    Place::Nowhere
}

fn restarted(platform: &Platform) -> Result<(), Failed> {
    let made = Arc::new(AtomicU64::new(0));
    let handle = Arc::new(OnceLock::new());
    let mut graph = Restarting::new(platform, made.clone(), handle.clone())?;
    let _ = handle.set(graph.params().clone());
    graph.run()?;
    check_equal(graph.params().gain().value(), 0.75)?;
    check_equal(made.load(Ordering::SeqCst), 2)?;
    check_equal(&graph.keep().kept, &vec![0.75; 2])
}
