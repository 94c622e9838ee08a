//! Runs the programs that show one idea each, under several seeds and with the race checker. Each checks its own results.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[cfg(unix)]
#[path = "../../tests/tests/running/signals.rs"]
mod signals;
#[path = "../../tests/src/started.rs"]
mod started;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use streamflow_examples::png_io;
use streamflow_examples::temporal::pattern_on_host;

/// The programs that the tests of this file run, `detector`, and `radar`, which Ctrl-C ends as well.
const PROGRAMS: [&str; 14] = [
    env!("CARGO_BIN_EXE_detector"),
    env!("CARGO_BIN_EXE_digits"),
    env!("CARGO_BIN_EXE_fields"),
    env!("CARGO_BIN_EXE_gain"),
    env!("CARGO_BIN_EXE_metadata"),
    env!("CARGO_BIN_EXE_windows"),
    env!("CARGO_BIN_EXE_side_thread"),
    env!("CARGO_BIN_EXE_camera"),
    env!("CARGO_BIN_EXE_ctrl_c"),
    env!("CARGO_BIN_EXE_parameters"),
    env!("CARGO_BIN_EXE_pngs"),
    env!("CARGO_BIN_EXE_stream_semantics"),
    env!("CARGO_BIN_EXE_launches"),
    env!("CARGO_BIN_EXE_radar"),
];

fn program(path: &str, args: &[&str]) -> Command {
    let mut command = started::program(path);
    // `RUST_LOG` of the user is removed, since logs would mix with the messages.
    command.args(args).env_remove("RUST_LOG").env("STREAMFLOW_RACE_CHECK", "1");
    command
}

/// Runs a program on the simulator, and returns its lines. The program must succeed, and print no progress bar.
#[track_caller]
fn lines(path: &str, seed: u64, args: &[&str]) -> Vec<String> {
    let seed = seed.to_string();
    let args = [&["--platform", "host", "--seed", &seed], args].concat();
    let Output { status, stdout, stderr } = program(path, &args).output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{path}: {stderr}");
    assert_eq!(stderr, "", "{path}");
    String::from_utf8(stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn every_seed_gives_the_same_output() {
    let programs = [
        env!("CARGO_BIN_EXE_fields"),
        env!("CARGO_BIN_EXE_metadata"),
        env!("CARGO_BIN_EXE_side_thread"),
        env!("CARGO_BIN_EXE_parameters"),
        env!("CARGO_BIN_EXE_stream_semantics"),
    ];
    for path in programs {
        let first = lines(path, 0, &[]);
        assert!(first.len() >= 5, "{path}: {first:?}");
        for seed in 1..8 {
            assert_eq!(lines(path, seed, &[]), first, "{path}, seed {seed}");
        }
    }
}

#[test]
fn results_are_downloaded_in_the_order_of_their_samples() {
    let path = env!("CARGO_BIN_EXE_gain");
    for seed in 0..8 {
        assert_eq!(lines(path, seed, &[]), ["[0.5, 1.0, 1.5]", "[2.0, 2.5, 3.0]"]);
    }
}

#[test]
fn a_layer_counts_the_launches_of_each_kernel() {
    let path = env!("CARGO_BIN_EXE_launches");
    for seed in 0..8 {
        assert_eq!(lines(path, seed, &[]), ["fade: 8 launches", "pattern: 4 launches"]);
    }
}

/// Returns the path of the example `tokio`. `cargo test` builds it beside the programs, which do not depend on tokio.
fn tokio() -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_digits")).parent().unwrap();
    let path = programs.join("examples").join(format!("tokio{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "build it: cargo build -p streamflow-examples --example tokio");
    path.to_str().unwrap().to_owned()
}

#[test]
fn each_request_of_a_task_has_its_answer() {
    let path = tokio();
    let mut sum = 0;
    let wanted = (0..20).map(|number| {
        sum += number * number;
        format!("answer {number}: {sum}")
    });
    let wanted: Vec<String> = wanted.collect();
    for seed in 0..8 {
        assert_eq!(lines(&path, seed, &[]), wanted, "seed {seed}");
    }
    // A task that fails ends the graph and the other task. In this run, the reader of the output is gone.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = program(&path, &["--platform", "host"]).stdout(writer).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !stderr.contains("error: "), "{stderr}");
}

/// On a machine without a GPU the program must fail with a remedy; with a GPU it must run on the GPU.
#[test]
fn tasks_of_tokio_take_the_gpu_or_say_why_not() {
    let output = program(&tokio(), &["--platform", "cuda"]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    match output.status.code() {
        Some(0) => assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 20),
        code => {
            assert_eq!(code, Some(1), "{stderr}");
            let is_right = stderr.starts_with("error: ") && stderr.contains("host simulator");
            assert!(is_right, "{stderr}");
            assert!(output.stdout.is_empty());
        }
    }
    let output = program(&tokio(), &["--platform", "cuda", "--seed", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// Runs the program of cudarc without and with streamflow. Without a GPU, both fail; cudarc panics if there is no `libcuda`.
#[test]
fn a_kernel_of_cudarc_and_one_of_streamflow_compute_the_same() {
    let of = |path: &str| {
        let output = program(path, &[]).output().unwrap();
        let [text, error] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), text, error)
    };
    let (alone, beside) =
        (of(env!("CARGO_BIN_EXE_cudarc_alone")), of(env!("CARGO_BIN_EXE_beside_cudarc")));
    if beside.0 == Some(0) {
        let right = || (Some(0), "[2.0, 4.0, 6.0]\n".to_owned(), String::new());
        assert_eq!((alone, beside), (right(), right()));
    } else {
        assert_eq!((beside.0, &*beside.1), (Some(1), ""));
        assert!(beside.2.contains("or run on the host simulator"), "{}", beside.2);
        assert!(matches!(alone.0, Some(1 | 101)) && alone.1.is_empty(), "{alone:?}");
    }
}

/// Checks that each program has at most 30 lines, and that the page of the guide quotes both without a change.
#[test]
fn the_guide_has_the_program_of_cudarc_before_and_after() {
    let page = include_str!("../../streamflow/src/guide/beside_cudarc.md");
    for text in
        [include_str!("../src/bin/cudarc_alone.rs"), include_str!("../src/bin/beside_cudarc.rs")]
    {
        let program = text.split_once("\n\n").unwrap().1;
        assert!(program.lines().count() <= 30, "{program}");
        assert!(page.contains(&format!("```no_run\n{program}```\n")), "{program}");
    }
}

#[test]
fn the_last_window_has_the_frames_that_are_left() {
    let path = env!("CARGO_BIN_EXE_windows");
    let frames = |count: &str| -> Vec<String> {
        let lines = lines(path, 0, &["--count", count]);
        lines.iter().map(|line| line.split(' ').nth(2).unwrap().to_owned()).collect()
    };
    assert_eq!(frames("10"), ["4", "4", "2"]);
    assert_eq!(frames("8"), ["4", "4"]);
    assert_eq!(frames("3"), ["3"]);
}

#[test]
fn a_file_sets_the_first_gain() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("gain.toml");
    let path = env!("CARGO_BIN_EXE_parameters");
    fs::write(&file, "[amplify]\ngain = 0.25\n").unwrap();
    let file = file.to_str().unwrap();
    let lines = lines(path, 0, &["--params", file]);
    let wanted = ["amplify.gain = 0.25 from tick 0 on", "amplify.gain = 1.0 from tick 4 on"];
    assert_eq!(lines[..2], wanted);
    assert_eq!((&*lines[5], &*lines[6]), ("frame 3: gain 0.250", "frame 4: gain 1.000"));

    fs::write(file, "[amplify]\ngain = 7.0\n").unwrap();
    let output = program(path, &["--platform", "host", "--params", file]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("gain.toml:2:8") && stderr.contains("0.0..=1.0"), "{stderr}");
}

/// The camera's thread runs at a rate of its own, so frames may be dropped.
#[test]
fn frames_of_the_camera_arrive() {
    for seed in 0..4 {
        let path = env!("CARGO_BIN_EXE_camera");
        let lines = lines(path, seed, &["--count", "20", "--rate", "2000"]);
        let words: Vec<&str> = lines[0].split(' ').collect();
        assert_eq!(words[..6], ["the", "camera", "made", "20", "frames,", "and"], "{lines:?}");
        let arrived: u32 = words[6].parse().unwrap();
        assert!((1..=20).contains(&arrived), "{lines:?}");
    }
}

#[test]
fn each_tick_has_its_png() {
    for seed in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        let frames = dir.path().join("new/frames");
        let lines =
            lines(env!("CARGO_BIN_EXE_pngs"), seed, &[frames.to_str().unwrap(), "--count", "3"]);
        assert!(lines[0].starts_with("3 files are in "), "{lines:?}");
        assert_eq!(fs::read_dir(&frames).unwrap().count(), 3);
        for number in 0..3 {
            let image = png_io::read(&frames.join(format!("{number:04}.png"))).unwrap();
            assert_eq!((image.width, image.height), (64, 48));
            let mut expected = vec![0.0; 64 * 48];
            pattern_on_host(&mut expected, number);
            for (i, (found, expected)) in image.rgb.chunks(3).zip(expected).enumerate() {
                assert_eq!(found[0], (255.0 * expected).round() as u8, "frame {number}, pixel {i}");
            }
        }
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output =
        program(env!("CARGO_BIN_EXE_pngs"), &["--platform", "host", file.path().to_str().unwrap()]);
    let output = { output }.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.starts_with(b"error: "), "{output:?}");
}

/// Starts a program whose first lines say that it runs, and ends it by Ctrl-C. If the signal is ignored in this environment, the
/// program gets the arguments `alone`, too, with which it ends by itself.
#[cfg(unix)]
#[track_caller]
fn assert_ctrl_c_ends(path: &str, args: &[&str], alone: &[&str]) {
    let args = [&["--platform", "host"], args].concat();
    if signals::ignored().is_some() {
        let output = program(path, &[&args, alone].concat()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let mut child =
        program(path, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.ends_with("runs; press Ctrl-C to stop it\n") {
        assert!(stdout.read_line(&mut text).unwrap() > 0, "{text}");
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    stdout.read_to_string(&mut text).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    text += std::str::from_utf8(&output.stderr).unwrap();
    assert!(text.contains("the run ended: Ctrl-C stopped it"), "{text}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_run_and_the_program_succeeds() {
    assert_ctrl_c_ends(env!("CARGO_BIN_EXE_ctrl_c"), &[], &["--seconds", "1"]);
    let dir = tempfile::tempdir().unwrap();
    let args = ["--report", "--out", dir.path().to_str().unwrap()];
    assert_ctrl_c_ends(env!("CARGO_BIN_EXE_radar"), &args, &["--count", "1"]);
}

#[test]
fn help_says_what_a_program_shows_and_mistakes_exit_with_2() {
    for path in PROGRAMS.into_iter().chain([&*tokio()]) {
        let output = program(path, &["--help"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("--platform"), "{text}");
        for mistake in [&["--colour"][..], &["--platform", "rocm"]] {
            let output = program(path, mistake).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{path}: {output:?}");
            assert!(output.stderr.starts_with(b"error: "), "{path}: {output:?}");
        }
    }
}

#[test]
fn digits_are_read_with_few_mistakes() {
    let output = lines(env!("CARGO_BIN_EXE_digits"), 1, &["--count", "2"]);
    assert_eq!(output, ["196 of 200 digits are read right"]);
}
