//! Inputs of a graph with options: `input(many)` and `input(optional)`.

use streamflow::prelude::*;
use streamflow_tests::forms::Form;
use streamflow_tests::{Failed, Suite, check_equal};

pub(super) fn add(suite: Suite) -> Suite {
    let why = "with workers, a message of an optional input may come a tick later";
    suite
        .except(Form::Workers, why, |suite| suite.both("an_input_of_a_graph_has_many_edges", many))
        .both("an_input_of_a_graph_is_optional", optional)
        .both("edges_from_outside_may_add_to_those_inside", added)
        .both("a_graph_with_a_source_runs_without_its_optional_input", own_source)
}

/// A source of the numbers of its ticks, plus a number.
#[operator]
struct Count {
    #[output]
    n: u64,
    first: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(self.first + cx.tick())
    }
}

/// Keeps the numbers of each tick, with the label if there is one.
#[operator]
struct Gather {
    #[input(many)]
    numbers: &u64,
    #[input(optional)]
    label: &u64,
    got: Vec<(Vec<u64>, Option<u64>)>,
}

impl Compute for Gather {
    fn compute(&mut self, io: GatherIo<'_>, _: &ExecutionContext) -> Result<()> {
        let numbers = io.numbers.receive().into_data().copied().collect();
        self.got.push((numbers, io.label.receive().into_data().copied()));
        Ok(())
    }
}

graph! {
    /// Gathers the numbers of a source inside, and of those outside.
    struct Gathered {
        input(many) numbers: &u64;
        input(optional) label: &u64;
        #[when(count(2))]
        let own: Count = Count::new(100);
        let gather: Gather = Gather::new(Vec::new());
        own.n >> gather.numbers;
        numbers >> gather.numbers;
        label >> gather.label;
    }
}

graph! {
    /// Hands both inputs on to a graph inside.
    struct Around {
        input(many) numbers: &u64;
        input(optional) label: &u64;
        let gathered: Gathered = Gathered::new();
        numbers >> gathered.numbers;
        label >> gathered.label;
    }
}

graph! {
    struct Many {
        #[when(count(2))]
        let counts: [Count; 3] = |i| Count::new(10 * i as u64);
        #[when(count(2))]
        let label: Count = Count::new(7);
        let around: Around = Around::new();
        for i in 0..3 {
            counts[i].n >> around.numbers;
        }
        label.n >> around.label;
    }
}

fn many(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Many::new(platform)?;
    let report = graph.run()?;
    let got = &graph.around().gathered().gather().got;
    check_equal(got, &vec![(vec![100, 0, 10, 20], Some(7)), (vec![101, 1, 11, 21], Some(8))])?;
    let edge = "counts[2].n >> around.gathered.gather.numbers";
    check_equal(report.edges.iter().filter(|report| report.edge == edge).count(), 1)
}

graph! {
    struct Few {
        #[when(count(2))]
        let count: Count = Count::new(0);
        let around: Around = Around::new();
        count.n >> around.numbers;
    }
}

fn optional(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Few::new(platform)?;
    graph.run()?;
    let got = &graph.around().gathered().gather().got;
    check_equal(got, &vec![(vec![100, 0], None), (vec![101, 1], None)])
}

graph! {
    /// A graph with a source of its own, whose only input is optional.
    struct Own {
        input(optional) label: &u64;
        #[when(count(2))]
        let own: Count = Count::new(100);
        let gather: Gather = Gather::new(Vec::new());
        own.n >> gather.numbers;
        label >> gather.label;
    }
}

graph! {
    struct Owns {
        let own: Own = Own::new();
        let owns: [Own; 2] = |_| Own::new();
    }
}

/// Checks that graphs run whose inputs are all optional, and have no edge.
fn own_source(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Owns::new(platform)?;
    graph.run()?;
    let wanted = vec![(vec![100], None), (vec![101], None)];
    check_equal(&graph.own().gather().got, &wanted)?;
    for own in graph.owns() {
        check_equal(&own.gather().got, &wanted)?;
    }
    Ok(())
}

graph! {
    /// Gathers the numbers of a source inside, and perhaps more.
    struct Added {
        input(many, optional) more: &u64;
        #[when(count(2))]
        let own: Count = Count::new(100);
        let gather: Gather = Gather::new(Vec::new());
        own.n >> gather.numbers;
        more >> gather.numbers;
    }
}

graph! {
    struct WithAndWithout {
        #[when(count(2))]
        let count: Count = Count::new(0);
        let with: Added = Added::new();
        let without: Added = Added::new();
        count.n >> with.more;
    }
}

fn added(platform: &Platform) -> Result<(), Failed> {
    let mut graph = WithAndWithout::new(platform)?;
    graph.run()?;
    check_equal(&graph.with().gather().got, &vec![(vec![100, 0], None), (vec![101, 1], None)])?;
    check_equal(&graph.without().gather().got, &vec![(vec![100], None), (vec![101], None)])
}
