//! Operators that query the races themselves. A run, or a harness, must still report each race.

use std::ops::RangeInclusive;

use streamflow::driver::race::RaceReports;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_driver::driver::race::RaceMark;
use streamflow_tests::foreign::launch_unordered;
use streamflow_tests::greedy::greedy;
use streamflow_tests::kernels::{fill, slow_copy};
use streamflow_tests::{Failed, Suite, check, check_races};

const LEN: usize = 1003;

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_run_reports_races_that_its_operator_has_queried", query_in_a_run)
        .both("a_harness_reports_races_that_its_operator_has_queried", query_in_a_harness)
        .both("each_race_mark_gives_all_races_since_it", marks)
}

/// How an operator queries the races.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Query {
    FromPlatform,
    FromDriver,
    ByMark,
}

const QUERIES: [Query; 3] = [Query::FromPlatform, Query::FromDriver, Query::ByMark];

impl Query {
    fn races(self, platform: &Platform) -> RaceReports {
        match self {
            Self::FromPlatform => platform.take_races(),
            Self::FromDriver => platform.driver().observer().take_races(),
            Self::ByMark => platform.driver().observer().races_since(&mut RaceMark::default()),
        }
    }
}

/// Writes on one stream, and reads on another stream that does not wait for the write.
fn race(platform: &Platform, [a, b]: [&CudaStream; 2]) -> Result<()> {
    let mut data = platform.tensor([LEN], a)?;
    let mut copy = platform.tensor([LEN], b)?;
    a.launch::<fill>(LEN, (&mut data, 1.0))?;
    launch_unordered::<slow_copy>(b, LEN, (&mut copy, &data, 0))
}

/// An operator that causes a race in its first tick, and queries the races in each hook of each tick.
#[operator]
struct Curious {
    #[output]
    number: u64,
    query: Query,
    /// How many races the operator has caused, and how many it has found.
    caused: usize,
    seen: usize,
}

impl Compute for Curious {
    fn compute(&mut self, io: CuriousIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 0 {
            let pool = cx.platform().stream_pool("CURIOUS", &CudaStreamPool::new())?;
            race(cx.platform(), [&pool.allocate("a")?, &pool.allocate("b")?])?;
            self.caused += 1;
        }
        self.seen += self.query.races(cx.platform()).races.len();
        io.number.emit(cx.tick())
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        self.seen += self.query.races(cx.platform()).races.len();
        Ok(())
    }
}

graph! {
    struct TwoCurious(query: Query) {
        #[when(count(2))] let one: Curious = Curious::new(query, 0, 0);
        #[when(count(2))] let other: Curious = Curious::new(query, 0, 0);
        one.number >> _;
        other.number >> _;
    }
}

/// Returns a platform with a race checker on the same driver, whatever the build and the environment say.
fn watched(platform: &Platform) -> Result<Platform> {
    let builder = Platform::builder().race_check(true);
    Ok(builder.driver(platform.driver().clone())?)
}

fn query_in_a_run(platform: &Platform) -> Result<(), Failed> {
    for query in QUERIES {
        let platform = watched(platform)?;
        let graph = TwoCurious::new(&platform, query)?;
        // The greedy scheduler ends the run after each node has ticked, so both races are reported.
        run_twice(&platform, greedy(graph)?, query, 2..=2)?;
        // With several workers, the run may end after only the first node has ticked.
        run_twice(&platform, TwoCurious::new(&platform, query)?, query, 1..=2)?;
    }
    Ok(())
}

fn run_twice(
    platform: &Platform,
    mut graph: TwoCurious,
    query: Query,
    expected: RangeInclusive<usize>,
) -> Result<(), Failed> {
    for run in 0..2 {
        let before = graph.one().caused + graph.other().caused;
        let done = graph.run();
        let caused = graph.one().caused + graph.other().caused - before;
        let seen = graph.one().seen + graph.other().seen;
        check(seen > 0, || format!("{query:?}: the operator's query found no race"))?;
        let races = matches!(&done, Err(Error::Races(races)) if races.races.len() == caused);
        check(races && expected.contains(&caused), || {
            format!("{query:?}, run {run}, of {caused} races: {done:?}")
        })?;
        // The run has reported the races, so none are left.
        check_races(platform)?;
    }
    Ok(())
}

fn query_in_a_harness(platform: &Platform) -> Result<(), Failed> {
    for query in QUERIES {
        let platform = watched(platform)?;
        let mut harness = OperatorHarness::new(&platform, Curious::new(query, 0, 0))?;
        let done = harness.tick();
        check(matches!(done, Err(Error::Races(_))), || format!("{query:?}: {done:?}"))?;
        check(harness.operator().seen > 0, || "the operator's query found no race".into())?;
        check(harness.tick()?, || "the operator was not ready".into())?;
        harness.stop()?;
        check_races(&platform)?;
    }
    Ok(())
}

fn marks(platform: &Platform) -> Result<(), Failed> {
    let platform = watched(platform)?;
    let (driver, pool) = (platform.driver(), platform.stream_pool("P", &CudaStreamPool::new())?);
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let (mut one, mut other) = (RaceMark::default(), RaceMark::default());
    let times = |races: RaceReports| races.races.iter().map(|race| race.times).sum::<u64>();
    driver.observer().races_since(&mut one);
    for round in 1..=3 {
        race(&platform, [&a, &b])?;
        check(times(platform.take_races()) == 1, || format!("round {round}, take_races"))?;
        check(times(driver.observer().races_since(&mut one)) == 1, || {
            format!("round {round}, races_since")
        })?;
        check(driver.observer().races_since(&mut one).is_empty(), || {
            "the same race was reported twice".into()
        })?;
    }
    check(times(driver.observer().races_since(&mut other)) == 3, || {
        "a fresh mark did not give all races".into()
    })
}
