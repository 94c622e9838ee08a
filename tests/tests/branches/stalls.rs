//! Runs that stall behind branches, and the remedy in the texts of their errors.

use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check_equal, check_text, stalled};

use super::{Count, List, Parity};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_join_that_needs_both_branches_stalls_with_its_remedy", needs_both)
        .both("a_join_beside_a_branch_stalls_with_its_remedy", beside)
        .both("an_input_of_many_has_a_remedy_of_its_own", many)
        .both("the_remedy_names_the_node_that_sent_what_waits", two_choices)
        .both("a_wait_for_another_cause_has_no_remedy_of_branches", other_causes)
        .both("two_sources_of_a_join_have_no_remedy_of_branches", no_branches)
}

/// Adds two numbers.
#[operator]
struct Add {
    #[input]
    x: &u64,
    #[input]
    y: &u64,
    got: Vec<u64>,
}

impl Compute for Add {
    fn compute(&mut self, io: AddIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push(io.x.receive().into_data() + io.y.receive().into_data());
        Ok(())
    }
}

/// Sends on what it receives.
#[operator]
struct Relay {
    #[input]
    n: &u64,
    #[output]
    out: u64,
}

impl Compute for Relay {
    fn compute(&mut self, io: RelayIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.n.receive().into_data();
        io.out.emit(n)
    }
}

graph! {
    struct NeedsBoth(by: u64) {
        #[when(count(4))]
        let count: Count = Count::new(by);
        let parity: Parity = Parity::new(99);
        let relay: Relay = Relay::new();
        let add: Add = Add::new(Vec::new());
        count.n >> parity.n;
        // A tick needs room at each branch, since it chooses one later.
        #[capacity(2)]
        parity.even >> add.x;
        parity.odd >> relay.n;
        relay.out >> add.y;
    }
}

/// Checks that a join of pairs is right if each branch has a message for each of the other one, and that the stall of another join
/// names the inputs to change, and no `emit` that was forgotten.
fn needs_both(platform: &Platform) -> Result<(), Failed> {
    let mut graph = NeedsBoth::new(platform, 1)?;
    graph.run()?;
    check_equal(&graph.add().got[..], &[1, 5])?;
    let mut graph = NeedsBoth::new(platform, 2)?;
    let text = stalled(graph.run())?;
    check_text(
        &text,
        &[
            "`add`, after 0 ticks, has the message of `parity.even >> add.x`, but waits for a message of `relay.out >> add.y`, \
           which is empty (a tick of `parity` sends on one branch: if `x` and `y` are `optional`, `add` runs without the missing \
           message; for pairs, give `parity.even >> add.x` a `#[capacity(n)]` for the messages that come in a row)",
        ],
    )?;
    check_equal(text.contains("has called `emit`"), false)
}

graph! {
    struct Beside {
        #[when(count(2))]
        let count: Count = Count::new(2);
        let parity: Parity = Parity::new(99);
        let add: Add = Add::new(Vec::new());
        let even: List = List::new(Vec::new());
        count.n >> (parity.n, add.y);
        parity.odd >> add.x;
        parity.even >> even.n;
    }
}

/// Checks a join whose other input does not lead through the branches: that input needs no change.
fn beside(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Beside::new(platform)?;
    check_text(
        &stalled(graph.run())?,
        &[
            "(a tick of `parity` sends on one branch: if `x` is `optional`, `add` runs without the missing message)",
        ],
    )
}

#[operator]
struct AddAll {
    #[input(many)]
    n: &u64,
    got: Vec<u64>,
}

impl Compute for AddAll {
    fn compute(&mut self, io: AddAllIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push(io.n.receive().into_data().copied().sum());
        Ok(())
    }
}

graph! {
    struct Many {
        #[when(count(2))]
        let count: Count = Count::new(2);
        let parity: Parity = Parity::new(99);
        let add: AddAll = AddAll::new(Vec::new());
        count.n >> parity.n;
        parity.odd >> add.n;
        parity.even >> add.n;
    }
}

fn many(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Many::new(platform)?;
    check_text(
        &stalled(graph.run())?,
        &[
            "(a tick of `parity` sends on one branch: if `n` is `optional`, `add` runs without the missing message; for pairs, give \
           `parity.even >> add.n` a `#[capacity(n)]`",
        ],
    )
}

graph! {
    struct TwoSources {
        #[when(count(2))]
        let two: Count = Count::new(1);
        #[when(count(1))]
        let one: Count = Count::new(1);
        let add: Add = Add::new(Vec::new());
        two.n >> add.x;
        one.n >> add.y;
    }
}

/// Checks that a stall without branches says nothing of them.
fn no_branches(platform: &Platform) -> Result<(), Failed> {
    let mut graph = TwoSources::new(platform)?;
    let text = stalled(graph.run())?;
    check_text(&text, &["waits for a message of `one.n >> add.y`"])?;
    check_equal(text.contains("branch"), false)
}

/// Chooses the branch `no` in each tick.
#[operator]
struct Refuse {
    #[input]
    n: &u64,
    #[output(branch)]
    yes: u64,
    #[output(branch)]
    no: u64,
    agrees: bool,
}

impl Compute for Refuse {
    fn compute(&mut self, io: RefuseIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.n.receive().into_data();
        if self.agrees { io.branch.yes().emit(n) } else { io.branch.no().emit(n) }
    }
}

graph! {
    struct TwoChoices {
        #[when(count(3))]
        let count: Count = Count::new(1);
        let parity: Parity = Parity::new(99);
        let refuse: Refuse = Refuse::new(false);
        let add: Add = Add::new(Vec::new());
        count.n >> parity.n;
        #[capacity(2)]
        parity.even >> add.x;
        parity.odd >> refuse.n;
        refuse.yes >> add.y;
        refuse.no >> _;
    }
}

/// Checks a join behind two choices that both keep a message away. The remedy names the inputs behind the first choice.
fn two_choices(platform: &Platform) -> Result<(), Failed> {
    let mut graph = TwoChoices::new(platform)?;
    let text = "(a tick of `parity` sends on one branch: if `x` and `y` are `optional`, `add` runs without the missing message";
    check_text(&stalled(graph.run())?, &[text])
}

/// Receives numbers, and sends none.
#[operator]
struct Forgets {
    #[input]
    n: &u64,
    #[output]
    out: u64,
}

impl Compute for Forgets {
    fn compute(&mut self, io: ForgetsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.n.discard();
        Ok(())
    }
}

graph! {
    struct Forgotten {
        #[when(count(4))]
        let count: Count = Count::new(1);
        let parity: Parity = Parity::new(99);
        let forgets: Forgets = Forgets::new();
        let add: Add = Add::new(Vec::new());
        count.n >> parity.n;
        #[capacity(4)]
        parity.even >> add.x;
        parity.odd >> forgets.n;
        forgets.out >> add.y;
    }
}

graph! {
    struct AlwaysEven {
        #[when(count(2))]
        let two: Count = Count::new(1);
        #[when(count(1))]
        let one: Count = Count::new(2);
        let parity: Parity = Parity::new(99);
        let add: Add = Add::new(Vec::new());
        two.n >> add.x;
        one.n >> parity.n;
        parity.even >> add.y;
        parity.odd >> _;
    }
}

graph! {
    struct Paired {
        #[when(count(2))]
        let count: Count = Count::new(2);
        let parity: Parity = Parity::new(99);
        let sum: SumUp = SumUp::new();
        let even: List = List::new(Vec::new());
        count.n >> (parity.n, sum.y);
        parity.odd >> sum.x;
        parity.even >> even.n;
        #[feedback(initial = 0)]
        sum.out >> sum.state;
    }
}

/// Adds numbers to a state that travels along a feedback edge.
#[operator]
struct SumUp {
    #[input]
    x: &u64,
    #[input]
    y: &u64,
    #[input]
    state: u64,
    #[output]
    out: u64,
}

impl Compute for SumUp {
    fn compute(&mut self, io: SumUpIo<'_>, _: &ExecutionContext) -> Result<()> {
        let sum = io.x.receive().into_data() + io.y.receive().into_data();
        io.out.emit(sum + io.state.receive().into_data())
    }
}

/// Checks waits that an optional input would not end, or that no choice has caused: an `emit` that was forgotten, a source that
/// ended, and a node whose feedback edge would let it run without end.
fn other_causes(platform: &Platform) -> Result<(), Failed> {
    let texts = [
        stalled(Forgotten::new(platform)?.run())?,
        stalled(AlwaysEven::new(platform)?.run())?,
        stalled(Paired::new(platform)?.run())?,
    ];
    check_text(&texts[0], &["none of the 2 tick(s) of `forgets` has called `emit`"])?;
    check_text(&texts[1], &["waits for a message of `parity.even >> add.y`"])?;
    check_text(&texts[2], &["waits for a message of `parity.odd >> sum.x`"])?;
    texts.iter().try_for_each(|text| check_equal(text.contains("branch"), false))
}
