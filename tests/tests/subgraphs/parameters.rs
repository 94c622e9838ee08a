//! Parameters of nodes inside: by the handle, and from a file.

use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check_equal};

use super::{Count, List};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_handle_reaches_the_parameters_inside", handle)
        .both("a_file_sets_the_parameters_inside", file)
        .both("a_wrong_file_names_the_paths", wrong_file)
        .both("operators_inside_are_changed_between_runs", changed)
}

/// Multiplies numbers.
#[operator]
pub(super) struct Times {
    #[input]
    n: &u64,
    #[output]
    out: u64,
    #[param]
    by: u64,
}

impl Compute for Times {
    fn compute(&mut self, io: TimesIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.out.emit(io.n.receive().into_data() * self.by)
    }
}

graph! {
    pub(super) struct Pair(first: u64) {
        input n: &u64;
        output out: u64;
        let one: Times = Times::new(first);
        let other: Times = Times::new(1);
        n >> one.n;
        one.out >> other.n;
        other.out >> out;
    }
}

graph! {
    struct Pairs {
        #[when(count(3))]
        let count: Count = Count::new();
        let left: Pair = Pair::new(2);
        let times: Times = Times::new(1);
        let right: Pair = Pair::new(3);
        let list: List = List::new(Vec::new());
        count.n >> left.n;
        left.out >> times.n;
        times.out >> right.n;
        right.out >> list.n;
    }
}

fn run(graph: &mut Pairs) -> Result<Vec<u64>, Failed> {
    graph.run()?;
    Ok(std::mem::take(&mut graph.list_mut().got))
}

fn handle(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Pairs::new(platform)?;
    check_equal(run(&mut graph)?, vec![0, 6, 12])?;
    let params = graph.params();
    params.left().one().set_by(5)?;
    params.right().other().set_by(7)?;
    check_equal(params.left().one().by(), 5)?;
    check_equal(params.right().one().by(), 3)?;
    check_equal(run(&mut graph)?, vec![0, 105, 210])
}

const FILE: &str = "
    [left.one]
    by = 10
    [left.other]
    by = 1
    [times]
    by = 2
    [right]
    one.by = 1
    other.by = 4
";

fn file(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Pairs::new(platform)?;
    graph.load_params_str("pairs.toml", FILE)?;
    check_equal(run(&mut graph)?, vec![0, 80, 160])?;
    // The handle of a graph inside takes the tables of that graph alone.
    graph.params().right().load_params_str("right.toml", "one.by = 2\nother.by = 1")?;
    check_equal(run(&mut graph)?, vec![0, 40, 80])
}

fn wrong_file(platform: &Platform) -> Result<(), Failed> {
    let graph = Pairs::new(platform)?;
    let text = "[left.one]\nbye = 1\n[left.others]\nby = 1\n[times]\nby = 1\n[right]\none.by = 1.5\nother.by = 1\n";
    let error = graph.load_params_str("pairs.toml", text).err();
    let error = error.map(|error| error.to_string()).unwrap_or_default();
    check_equal(
        error.lines().skip(1).map(str::trim).collect::<Vec<_>>(),
        vec![
            "pairs.toml:1:2: the table of node `left.other` is missing; write",
            "[left.other]",
            "by = …  # `u64`",
            "pairs.toml:1:7: `left.one.by` is missing; write `by = …`, a `u64`",
            "pairs.toml:2:1: node `left.one` has no parameter `bye`; did you mean `by`?",
            "pairs.toml:3:7: no node `left.others` has parameters; did you mean `other`?",
            "pairs.toml:8:10: `right.one.by`: invalid type: floating point `1.5`, expected u64; it is a `u64`",
        ],
    )?;
    let whole = graph.load_params_str("pairs.toml", "left = 3\n[times]\nby = 1\n").err();
    let whole = whole.map(|error| error.to_string()).unwrap_or_default();
    check_equal(whole.contains("`left` is a graph, and needs a table for each of its nodes"), true)
}

fn changed(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Pairs::new(platform)?;
    graph.left_mut().one_mut().by = 4;
    check_equal(graph.left().one().by, 4)?;
    check_equal(run(&mut graph)?, vec![0, 12, 24])
}
