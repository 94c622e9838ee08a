//! The program `radar` as a graph, compared with the true targets, with `f64` and with NumPy, on both platforms.

mod by_transforms;

use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::Value;
use streamflow::prelude::*;
use streamflow_examples::radar::{
    CODE, MAPS, PULSES, Radar, SAMPLES, TARGETS, TOLERANCE, detections, power, score,
};
use streamflow_tests::seen::{report, take};
use streamflow_tests::{Failed, Suite, check, check_close, check_equal};

/// The output of `examples/numpy/radar.py`. It is embedded, since the machine with the GPU has no source tree.
const NUMPY: &str = include_str!("../../examples/numpy/radar.json");

/// A threshold so low that the noise of a single map exceeds it in some cells, and the noise of the mean does
/// not.
const LOW: f32 = 2.0;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .large(|suite| {
            suite
                .both("each_map_has_all_targets_and_nothing_else", truth)
                .both("with_an_infinite_threshold_nothing_is_found", infinite)
                .both("maps_are_near_f64_and_numpy", references)
                .both("compressed_by_transforms_it_finds_the_same", transforms)
                .both("control::with_a_wrong_filter_targets_are_missing", wrong_filter)
        })
        .plain("a_slow_disk_gets_the_newest_map::host", || slow_disk(&Platform::host().build()?))
        .cuda("a_slow_disk_gets_the_newest_map", slow_disk)
}

/// What a run has found in each tick, and the numbers of the maps that it wrote.
struct Seen {
    found: Vec<(u64, Vec<u8>)>,
    maps: Vec<(u64, Vec<f32>)>,
}

/// Runs the radar once for each of the thresholds. `None` is the radar's own threshold.
fn run<const N: usize>(
    platform: &Platform,
    code: &[f32],
    count: u64,
    thresholds: [Option<f32>; N],
) -> Result<[Seen; N], Failed> {
    let ((found, show), (maps, write)) = (report(), report());
    let interval = Duration::from_millis(1);
    let mut graph = Radar::new(platform, code, count, interval, show, write)?;
    let mut runs = Vec::new();
    for threshold in thresholds {
        if let Some(threshold) = threshold {
            graph.params().detect().set_threshold(threshold)?;
        }
        graph.run()?;
        let seen = Seen { found: take(&found), maps: take(&maps) };
        let ticks: Vec<u64> = seen.found.iter().map(|(tick, _)| *tick).collect();
        check(ticks.iter().copied().eq(0..count), || format!("ticks {ticks:?}, not 0..{count}"))?;
        // Maps may be dropped, except the last one.
        check_equal(seen.maps.last().map(|(number, _)| number + 1), Some(count))?;
        runs.push(seen);
    }
    runs.try_into().map_err(|_| Failed::msg("a run for each threshold"))
}

fn check_truth(seen: &Seen) -> Result<(), Failed> {
    seen.found.iter().try_for_each(|(_, found)| check_equal(score(found), (TARGETS.len(), 0)))
}

fn truth(platform: &Platform) -> Result<(), Failed> {
    let [seen] = run(platform, &CODE, 2, [None])?;
    check_truth(&seen)?;
    check_numpy(&seen, "found")
}

/// The control of `truth`: an infinite threshold finds nothing.
fn infinite(platform: &Platform) -> Result<(), Failed> {
    let [all, none] = run(platform, &CODE, 1, [None, Some(f32::INFINITY)])?;
    check_truth(&all)?;
    check_equal(score(&none.found[0].1), (0, 0))
}

/// Returns what NumPy has found in each tick, and its sums of the maps.
fn numpy() -> Result<Vec<Value>, Failed> {
    Ok(serde_json::from_str(NUMPY)?)
}

/// Compares the cells that were found with the cells that NumPy has under this name.
fn check_numpy(seen: &Seen, name: &str) -> Result<(), Failed> {
    seen.found.iter().zip(numpy()?).try_for_each(|((_, found), numpy)| {
        check_equal(&serde_json::to_value(cells(found))?, &numpy[name])
    })
}

/// Returns the running average in each of the first three ticks, in `f64`.
fn averages() -> &'static [Vec<f64>; 3] {
    // The averages are computed once, since that is slow without optimisation, and they are the same for every seed.
    static AVERAGES: OnceLock<[Vec<f64>; 3]> = OnceLock::new();
    AVERAGES.get_or_init(|| {
        let mut mean = vec![0.0; PULSES * SAMPLES];
        [0, 1, 2].map(|tick| {
            for (mean, power) in mean.iter_mut().zip(power(tick)) {
                *mean += (power - *mean) / (tick + 1).min(MAPS) as f64;
            }
            mean.clone()
        })
    })
}

fn check_maps(seen: &Seen) -> Result<(), Failed> {
    seen.maps.iter().try_for_each(|(number, map)| {
        check_close(map, &averages()[*number as usize], |x| TOLERANCE * x)
    })
}

/// Returns the numbers of the cells that were found.
fn cells(found: &[u8]) -> Vec<usize> {
    (0..found.len()).filter(|&cell| found[cell] == 1).collect()
}

fn references(platform: &Platform) -> Result<(), Failed> {
    let [seen] = run(platform, &CODE, 3, [Some(LOW)])?;
    check_maps(&seen)?;
    check_numpy(&seen, "low")?;
    for ((_, found), average) in seen.found.iter().zip(averages()) {
        check_equal(cells(found), detections(average, LOW.into()))?;
    }
    let numpy = numpy()?;
    for (number, map) in &seen.maps {
        let sums = |name| serde_json::from_value::<Vec<f64>>(numpy[*number as usize][name].clone());
        let (mut rows, mut columns) = (vec![0.0; PULSES], vec![0.0; SAMPLES]);
        for (i, &power) in map.iter().enumerate() {
            rows[i / SAMPLES] += f64::from(power);
            columns[i % SAMPLES] += f64::from(power);
        }
        check_close(&rows, &sums("rows")?, |sum| TOLERANCE * sum)?;
        check_close(&columns, &sums("columns")?, |sum| TOLERANCE * sum)?;
    }
    // The mean of several maps has fewer false alarms than one map.
    let false_alarms: Vec<usize> = seen.found.iter().map(|(_, found)| score(found).1).collect();
    check(false_alarms[0] >= 10 && false_alarms[2] == 0, || {
        format!("false alarms by tick: {false_alarms:?}")
    })
}

/// Checks that compression by transforms finds all targets, and the same noise.
fn transforms(platform: &Platform) -> Result<(), Failed> {
    let [own] = run(platform, &CODE, 1, [Some(LOW)])?;
    let (found, show) = report();
    by_transforms::ByTransforms::new(platform, 1, LOW, show)?.run()?;
    let found = take(&found);
    check_equal(&found, &own.found)?;
    check_equal(score(&found[0].1).0, TARGETS.len())
}

/// The control of `truth` and `references`: with the reversed code, their checks fail.
fn wrong_filter(platform: &Platform) -> Result<(), Failed> {
    let mut code = CODE;
    code.reverse();
    let [seen] = run(platform, &code, 1, [None])?;
    check(check_truth(&seen).is_err(), || "the targets were found".into())?;
    check(check_maps(&seen).is_err(), || "the map is the right one".into())
}

/// The first write of a map lasts until the last map but one is shown. That is one tick later if the last map
/// waits for the disk. On one thread the write would never end. The test blocks a worker, so its platform has no
/// seed.
fn slow_disk(platform: &Platform) -> Result<(), Failed> {
    const COUNT: u64 = 6;
    let (shown, wait) = channel();
    let (maps, mut note) = report::<f32>();
    let show = Box::new(move |number, _: &[u8]| {
        if number == COUNT - 2 {
            shown.send(())?;
        }
        Ok(())
    });
    let mut blocked = true;
    let write = Box::new(move |number, map: &[f32]| {
        if std::mem::take(&mut blocked) {
            wait.recv()?;
        }
        note(number, map)
    });
    let report =
        Radar::new(platform, &CODE, COUNT, Duration::from_millis(1), show, write)?.run()?;
    check_equal(report.ticks("show"), Some(COUNT))?;
    let numbers: Vec<u64> = take(&maps).into_iter().map(|(number, _)| number).collect();
    check(numbers.len() <= 2 && numbers.last() == Some(&(COUNT - 1)), || format!("{numbers:?}"))?;
    let dropped = report.dropped.iter().map(|dropped| dropped.messages).sum::<u64>();
    check_equal(dropped, COUNT - numbers.len() as u64)
}
