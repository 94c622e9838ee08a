//! Runs the program `radar` as a user does, on the simulator. Under a seed the clock is simulated, so the test does not wait.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../tests/src/started.rs"]
mod started;

use std::fs;
use std::path::Path;
use std::process::Output;

use streamflow_examples::png_io::{self, Image};
use streamflow_examples::radar::{PULSES, SAMPLES, picture};

fn radar(out: &Path, args: &[&str]) -> Output {
    let mut command = started::program(env!("CARGO_BIN_EXE_radar"));
    command.args(["--platform", "host", "--out"]).arg(out).args(args);
    // `RUST_LOG` of the user is removed, since logs would mix with the messages.
    command.env_remove("RUST_LOG").env("STREAMFLOW_RACE_CHECK", "1").output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Returns how bright a cell is. In the palette, more power has more green.
fn brightness(map: &Image, cell: usize) -> u8 {
    let (x, y) = picture::middle(cell / SAMPLES, cell % SAMPLES);
    map.rgb[3 * (y * map.width as usize + x) + 1]
}

#[test]
fn the_targets_are_the_brightest_cells_of_each_map_and_nothing_else_is_found() {
    for seed in ["1", "2", "3"] {
        let dir = tempfile::tempdir().unwrap();
        let maps = dir.path().join("new/maps");
        let output = radar(&maps, &["--seed", seed, "--count", "3"]);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(text(&output.stdout).contains("3 maps have all targets"), "{output:?}");

        // The disk gets the newest map, so the last map was written.
        let map = png_io::read(&maps.join("000002.png")).unwrap();
        let mut cells: Vec<usize> = (0..PULSES * SAMPLES).collect();
        cells.sort_by_key(|&cell| brightness(&map, cell));
        let mut brightest = cells.split_off(PULSES * SAMPLES - 5);
        brightest.sort_unstable();
        let truth = [3 * 256 + 40, 3 * 256 + 64, 11 * 256 + 200, 20 * 256 + 120, 27 * 256 + 120];
        assert_eq!(brightest, truth);
    }
}

/// Compares the README's picture with a new one. With `TRYBUILD=overwrite`, the test writes the new picture.
#[test]
fn the_picture_of_the_readme_is_a_map_of_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let output = radar(dir.path(), &["--seed", "1", "--count", "16"]);
    assert!(output.status.success(), "{output:?}");
    let drawn = dir.path().join("000015.png");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures/radar.png");
    if std::env::var_os("TRYBUILD").is_some_and(|value| value == "overwrite") {
        fs::copy(&drawn, &kept).unwrap();
    }
    assert!(fs::metadata(&kept).unwrap().len() <= 300_000);
    let [drawn, kept] = [drawn, kept].map(|path| png_io::read(&path).unwrap());
    assert_eq!((drawn.width, drawn.height), (kept.width, kept.height));
    // Logarithms may differ in their last bit from machine to machine, and so may a shade of colour.
    let differences = drawn.rgb.iter().zip(&kept.rgb).map(|(a, b)| a.abs_diff(*b));
    assert!(differences.max() <= Some(2), "the picture is another one; see this test's comment");
}

#[test]
fn a_missing_target_and_a_false_alarm_end_the_run() {
    let dir = tempfile::tempdir().unwrap();
    for (threshold, words) in [
        ("inf", "map 0 has 0 of 5 targets and 0 false alarms"),
        ("2", "map 0 has 5 of 5 targets and 15 false alarms"),
    ] {
        let output = radar(dir.path(), &["--seed", "1", "--threshold", threshold]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).starts_with("error: operator `show` failed"), "{output:?}");
        assert!(text(&output.stderr).contains(words), "{output:?}");
    }
}

#[test]
fn the_report_has_the_threshold_and_times() {
    let dir = tempfile::tempdir().unwrap();
    let output =
        radar(dir.path(), &["--seed", "1", "--count", "2", "--threshold", "3.5", "--report"]);
    assert!(output.status.success(), "{output:?}");
    for word in ["all sources are done", "detect.threshold             0  3.5", "latency of a path"]
    {
        assert!(text(&output.stderr).contains(word), "`{word}` is missing: {output:?}");
    }
}

#[test]
fn mistakes_of_usage_exit_with_2() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("maps");
    for (args, words) in [
        (&["--count", "0"][..], "0 is not in 1.."),
        (&["--hz", "0"], "0 is not in 1.."),
        (&["--threshold", "many"], "--threshold"),
        (&["--threshold", "0.5"], "1.0.."),
        (&["--threshold", "NaN"], "1.0.."),
    ] {
        let output = radar(&out, args);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).starts_with("error: "), "{output:?}");
        assert!(text(&output.stderr).contains(words), "{output:?}");
        assert!(output.stdout.is_empty() && !out.exists(), "{output:?}");
    }
}

#[test]
fn a_map_that_cannot_be_written_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    // A directory is at the path of the first file.
    fs::create_dir(dir.path().join("000000.png")).unwrap();
    let output = radar(dir.path(), &["--seed", "1", "--count", "2"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stderr = text(&output.stderr);
    assert!(stderr.contains("operator `disk` failed") && stderr.contains("000000.png"), "{stderr}");
}

#[test]
fn the_diagram_needs_no_platform() {
    let output = started::program(env!("CARGO_BIN_EXE_radar")).arg("--mermaid").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains(" -- \"found → tensor\" --> "), "{output:?}");
}
