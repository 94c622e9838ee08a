//! The report and the stall name an output if its operator forgets `emit`. Another test is of
//! `#[copy]` of host data.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

/// An operator that emits in each `every`th tick, or never if `every` is 0.
#[operator]
struct Sift {
    #[input]
    number: u64,
    #[output]
    sifted: u64,
    every: u64,
}

impl Compute for Sift {
    fn compute(&mut self, io: SiftIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        if self.every > 0 && cx.tick().is_multiple_of(self.every) {
            io.sifted.emit(number)
        } else {
            Ok(())
        }
    }
}

#[operator]
struct Add {
    #[input]
    one: u64,
    #[input]
    other: u64,
    sum: u64,
}

impl Compute for Add {
    fn compute(&mut self, io: AddIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.sum += io.one.receive().into_data() + io.other.receive().into_data();
        Ok(())
    }
}

#[operator]
struct Last {
    #[input]
    number: u64,
}

impl Compute for Last {
    fn compute(&mut self, io: LastIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.receive().into_data();
        Ok(())
    }
}

graph! {
    struct Line(every: u64) {
        #[when(count(4))]
        let count: Counter = Counter::new();
        let sift: Sift = Sift::new(every);
        let last: Last = Last::new();

        count.number >> sift.number;
        sift.sifted >> last.number;
    }
}

graph! {
    struct Joined(every: u64) {
        #[when(count(2))]
        let one: Counter = Counter::new();
        #[when(count(4))]
        let other: Counter = Counter::new();
        let sift: Sift = Sift::new(every);
        let add: Add = Add::new(0);

        one.number >> add.one;
        other.number >> sift.number;
        sift.sifted >> add.other;
    }
}

graph! {
    struct Copied {
        #[when(count(3))]
        let count: Counter = Counter::new();
        let add: Add = Add::new(0);
        let last: Last = Last::new();

        #[copy]
        count.number >> (add.one, add.other, last.number);
    }
}

fn silent(every: u64) -> (Vec<&'static str>, String) {
    let report = Line::new(&Platform::host().build().unwrap(), every).unwrap().run().unwrap();
    let sift = report.nodes.iter().find(|node| node.name == "sift").unwrap();
    (sift.silent_outputs.clone(), report.to_string())
}

#[test]
fn the_report_names_an_output_at_which_no_tick_emitted() {
    let (outputs, text) = silent(0);
    assert_eq!(outputs, ["sifted"]);
    assert!(text.contains("tick(s) without `emit` on `sifted`"), "{text}");
    // One message in the whole run is enough for an output not to be named.
    let (outputs, text) = silent(3);
    assert_eq!(outputs, Vec::<&str>::new());
    assert!(!text.contains("without `emit`"), "{text}");
}

#[test]
fn a_stall_names_the_output_at_which_no_tick_emitted() {
    let stalled = |every| {
        let mut graph = Joined::new(&Platform::host().build().unwrap(), every).unwrap();
        graph.run().unwrap_err().to_string()
    };
    let text = stalled(0);
    assert!(
        text.contains("none of the 4 tick(s) of `sift` has called `emit` on `sifted`"),
        "{text}"
    );
    // The control: the output of an operator that has emitted once is not named.
    let text = stalled(5);
    assert!(!text.contains("has called `emit`"), "{text}");
}

#[test]
fn another_run_begins_without_emissions() {
    let mut line = Line::new(&Platform::host().build().unwrap(), 1).unwrap();
    assert!(line.run().unwrap().nodes.iter().all(|node| node.silent_outputs.is_empty()));
    line.sift_mut().every = 0;
    let report = line.run().unwrap();
    assert_eq!(report.nodes[1].silent_outputs, ["sifted"]);
}

#[test]
fn host_data_is_copied_on_an_edge() {
    let mut graph = Copied::new(&Platform::host().build().unwrap()).unwrap();
    graph.run().unwrap();
    // The sum is 2 * (0 + 1 + 2).
    assert_eq!(graph.add().sum, 6);
}
