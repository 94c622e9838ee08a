//! Operators that ask for races themselves: a run, and a harness, report all the same.

use streamflow::driver::race::{RaceMark, RaceReports};
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::foreign::launch_unordered;
use streamflow_tests::kernels::{fill, slow_copy};
use streamflow_tests::{Failed, Suite, check, check_races};

const LEN: usize = 1003;

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("an_operator_that_asks_for_races_hides_none_from_its_run", asked_in_a_run)
        .both("an_operator_that_asks_for_races_hides_none_from_its_harness", asked_in_a_harness)
        .both("each_mark_has_all_races_since_it", marks)
}

/// How an operator asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    OfThePlatform,
    OfTheDriver,
    ByAMark,
}

const WAYS: [Way; 3] = [Way::OfThePlatform, Way::OfTheDriver, Way::ByAMark];

impl Way {
    fn ask(self, platform: &Platform) -> RaceReports {
        match self {
            Self::OfThePlatform => platform.take_races(),
            Self::OfTheDriver => platform.driver().take_races(),
            Self::ByAMark => platform.driver().races_since(&mut RaceMark::default()),
        }
    }
}

/// Reads what a stream writes on another that does not wait for it.
fn race(platform: &Platform, [a, b]: [&CudaStream; 2]) -> Result<()> {
    let mut data = platform.tensor([LEN], a)?;
    let mut copy = platform.tensor([LEN], b)?;
    a.launch::<fill>(LEN, (&mut data, 1.0))?;
    launch_unordered::<slow_copy>(b, LEN, (&mut copy, &data, 0))
}

/// Races in its first tick, and asks for races in each hook, also in those of later ticks.
#[operator]
struct Thief {
    #[output]
    number: u64,
    way: Way,
    stolen: usize,
}

impl Compute for Thief {
    fn compute(&mut self, io: ThiefIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 0 {
            let pool = cx.platform().stream_pool("THIEF", &CudaStreamPool::new())?;
            race(cx.platform(), [&pool.allocate("a")?, &pool.allocate("b")?])?;
        }
        self.stolen += self.way.ask(cx.platform()).races.len();
        io.number.emit(cx.tick())
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        self.stolen += self.way.ask(cx.platform()).races.len();
        Ok(())
    }
}

graph! {
    struct Thieves(way: Way) {
        #[when(count(2))] let one: Thief = Thief::new(way, 0);
        #[when(count(2))] let other: Thief = Thief::new(way, 0);
        one.number >> _;
        other.number >> _;
    }
}

/// A platform on the same driver that is watched, whatever the build and the environment say.
fn watched(platform: &Platform) -> Result<Platform> {
    let options = PlatformOptions { race_check: Some(true), ..PlatformOptions::default() };
    Platform::with_options(platform.driver().clone(), options)
}

fn asked_in_a_run(platform: &Platform) -> Result<(), Failed> {
    for way in WAYS {
        let platform = watched(platform)?;
        let mut graph = Thieves::new(&platform, way)?;
        for run in 0..2 {
            let done = graph.run();
            let stolen = graph.one().stolen + graph.other().stolen;
            check(stolen > 0, || format!("{way:?}: nothing was there to be taken"))?;
            let races = matches!(&done, Err(Error::Races(races)) if races.races.len() == 2);
            check(races, || format!("{way:?}, run {run}: {done:?}"))?;
            // The run has told of them.
            check_races(&platform)?;
        }
    }
    Ok(())
}

fn asked_in_a_harness(platform: &Platform) -> Result<(), Failed> {
    for way in WAYS {
        let platform = watched(platform)?;
        let mut harness = OperatorHarness::new(&platform, Thief::new(way, 0))?;
        let done = harness.tick();
        check(matches!(done, Err(Error::Races(_))), || format!("{way:?}: {done:?}"))?;
        check(harness.operator().stolen > 0, || "nothing was there to be taken".into())?;
        check(harness.tick()?, || "it is ready".into())?;
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
    driver.races_since(&mut one);
    for round in 1..=3 {
        race(&platform, [&a, &b])?;
        check(times(platform.take_races()) == 1, || format!("round {round}, taken"))?;
        check(times(driver.races_since(&mut one)) == 1, || format!("round {round}, marked"))?;
        check(driver.races_since(&mut one).is_empty(), || "nothing is new".into())?;
    }
    check(times(driver.races_since(&mut other)) == 3, || "all, for who never asked".into())
}
