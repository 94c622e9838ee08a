//! Runs the detector under seeds, and the program `detector` as a user does, on the simulator.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../tests/src/started.rs"]
mod started;

use std::fs::{self, File};
use std::path::Path;
use std::process::Output;
use std::sync::OnceLock;
use std::sync::mpsc::channel;

use streamflow::prelude::*;
use streamflow::testing::explore;
use streamflow_examples::detector::{Detector, HEIGHT, THRESHOLD, WIDTH, overlap, truth};

const FRAMES: u64 = 2;

/// A picture, its boxes and their scores.
type Found = (Vec<u8>, Vec<[f32; 4]>, Vec<f32>);

#[track_caller]
fn assert_boxes_are_right(number: u64, boxes: &[[f32; 4]]) {
    assert_eq!(boxes.len(), 3, "frame {number}: {boxes:?}");
    for disc in truth(number) {
        let best = boxes.iter().map(|found| overlap(disc, *found)).fold(0.0, f32::max);
        assert!(best >= 0.75, "frame {number}: {disc:?} is not in {boxes:?}: {best}");
    }
}

/// Compares the frames of all seeds with those of the first one.
#[test]
fn every_seed_finds_the_same_discs() -> Result<()> {
    static FIRST: OnceLock<Vec<Found>> = OnceLock::new();
    Ok(explore(|platform| {
        let (seen, frames) = channel();
        let report = Box::new(move |number, picture: &[u8], boxes: &[_], scores: &[f32]| {
            assert_boxes_are_right(number, boxes);
            // A box is drawn over its corner.
            let [x, y, ..] = boxes[0].map(|edge| edge as usize);
            assert_eq!(picture[3 * (y * WIDTH + x)..][..3], [255, 0, 0]);
            // The contrast of the discs is 130 of 219 steps of luma, less what the edges of pixels take.
            assert!(scores.iter().all(|score| (0.4..0.6).contains(score)), "{scores:?}");
            assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
            Ok(seen.send((picture.to_vec(), boxes.to_vec(), scores.to_vec()))?)
        });
        Detector::new(platform, FRAMES, THRESHOLD, report)?.run()?;
        let found: Vec<Found> = frames.try_iter().collect();
        assert_eq!(found.len() as u64, FRAMES);
        assert!(found == *FIRST.get_or_init(|| found.clone()), "another seed finds others");
        Ok::<(), Failure>(())
    })?)
}

fn detector(output: &Path, args: &[&str]) -> Output {
    let mut command = started::program(env!("CARGO_BIN_EXE_detector"));
    command.args(["--platform", "host", "--output"]).arg(output).args(args);
    // `RUST_LOG` of the user is removed, since logs would mix with the messages.
    command.env_remove("RUST_LOG").env("STREAMFLOW_RACE_CHECK", "1").output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_files_have_each_frame_and_its_boxes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("discs.gif");
    let output = detector(&path, &["--seed", "1", "--frames", "4"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(text(&output.stdout).contains("4 frames with all discs"), "{output:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "another file is left");

    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut pictures = options.read_info(File::open(&path).unwrap()).unwrap();
    assert_eq!((pictures.width(), pictures.height()), (WIDTH as u16, HEIGHT as u16));
    let lines = fs::read_to_string(path.with_extension("jsonl")).unwrap();
    for (number, line) in (0_u64..).zip(lines.lines()) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["frame"], number);
        let boxes: Vec<[f32; 4]> = serde_json::from_value(line["boxes"].clone()).unwrap();
        assert_boxes_are_right(number, &boxes);
        assert_eq!(line["scores"].as_array().unwrap().len(), boxes.len());
        // The picture has the box. A palette may change its red a little.
        let picture = pictures.read_next_frame().unwrap().unwrap();
        assert_eq!((picture.width, picture.height), (WIDTH as u16, HEIGHT as u16));
        let [x, y, ..] = boxes[0].map(|edge| edge as usize);
        let corner = &picture.buffer[4 * (y * WIDTH + x)..][..3];
        assert!(corner[0] > 200 && corner[1] < 60 && corner[2] < 60, "{corner:?}");
    }
    assert_eq!(lines.lines().count(), 4);
    assert!(pictures.read_next_frame().unwrap().is_none());
}

#[test]
fn a_missing_disc_ends_the_run_and_writes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("discs.gif");
    let output = detector(&path, &["--seed", "1", "--threshold", "0.9"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stderr = text(&output.stderr);
    assert!(stderr.starts_with("error: operator `show` failed"), "{stderr}");
    assert!(stderr.contains("frame 0 has 0 of 3 discs in 0 boxes"), "{stderr}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a file is left");
}

#[test]
fn mistakes_of_usage_exit_with_2() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("discs.gif");
    for (args, words) in [
        (&["--frames", "0"][..], "0 is not in 1.."),
        (&["--threshold", "many"], "--threshold"),
        (&["--threshold", "NaN"], "--threshold is NaN"),
        (&["--threshold", "2"], "0..=1"),
    ] {
        let output = detector(&path, args);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).starts_with("error: "), "{output:?}");
        assert!(text(&output.stderr).contains(words), "{output:?}");
        assert!(output.stdout.is_empty() && !path.exists(), "{output:?}");
    }
    let output = detector(&dir.path().join("discs.png"), &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("does not end in `.gif`"), "{output:?}");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("discs.gif");
    // A directory is at the path of the file.
    fs::create_dir(&path).unwrap();
    let output = detector(&path, &["--seed", "1", "--frames", "1"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stderr = text(&output.stderr);
    assert!(stderr.contains("cannot write") && stderr.contains("discs.gif"), "{stderr}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a file is left");
}

#[test]
fn the_diagram_needs_no_platform() {
    let output =
        started::program(env!("CARGO_BIN_EXE_detector")).arg("--mermaid").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains(" -- \"converted → image\" --> "), "{output:?}");
}
