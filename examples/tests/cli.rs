//! Runs the programs as a user does, and checks values, messages, exit codes, and that no file is incomplete.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../tests/src/started.rs"]
mod started;

use std::fs;
use std::path::Path;
use std::process::Output;

use streamflow_examples::{edges, png_io, seed_app, temporal};

const ASTRONAUT: &[u8] = include_bytes!("../data/astronaut.png");

fn run_pool(args: &[&str]) -> Output {
    run_program(env!("CARGO_BIN_EXE_cuda_stream_pool"), args)
}

fn run_edges(args: &[&str]) -> Output {
    run_program(env!("CARGO_BIN_EXE_edges"), args)
}

fn run_temporal_filter(args: &[&str]) -> Output {
    run_program(env!("CARGO_BIN_EXE_temporal_filter"), args)
}

fn run_overlap(args: &[&str]) -> Output {
    run_program(env!("CARGO_BIN_EXE_overlap"), args)
}

fn run_race(args: &[&str]) -> Output {
    run_program(env!("CARGO_BIN_EXE_race"), args)
}

fn run_program(path: &str, args: &[&str]) -> Output {
    // `RUST_LOG` of the user is removed, since logs would mix with the messages.
    started::program(path).args(args).env_remove("RUST_LOG").output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Asserts that the program failed with this code and with a message that has these words, and printed no results.
#[track_caller]
fn assert_fails(output: &Output, code: i32, words: &[&str]) {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.starts_with("error: "), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "`{word}` is missing: {stderr}");
    }
    assert_eq!(text(&output.stdout), "");
}

/// Returns the JSON object of each tick.
#[track_caller]
fn ticks(output: &Output) -> Vec<serde_json::Value> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn assert_ticks_are_right(output: &Output, count: u64, rows: usize, cols: u32) {
    let expected = seed_app::reference(rows, cols);
    let tolerance = seed_app::tolerance(cols);
    let near = |value: &serde_json::Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value - expected).abs() <= tolerance * expected, "{value}, not {expected}");
    };
    let ticks = ticks(output);
    assert_eq!(ticks.len() as u64, count);
    for (number, tick) in ticks.iter().enumerate() {
        assert_eq!(tick["tick"], number);
        assert_eq!(tick["shape"], serde_json::json!([rows]));
        assert_eq!(tick["dtype"], "float32");
        let head = tick["head"].as_array().unwrap();
        assert_eq!(head.len(), rows.min(4));
        head.iter().zip(&expected).for_each(|(value, &expected)| near(value, expected));
        near(&tick["sum"], expected.iter().sum());
    }
}

#[test]
fn the_pool_application_is_right() {
    for (rows, cols) in [(1, 1), (1, 256), (2, 3), (5, 257), (37, 1023)] {
        let (r, c) = (rows.to_string(), cols.to_string());
        let args = ["--platform", "host", "--count", "3", "--json", "--rows", &r, "--cols", &c];
        assert_ticks_are_right(&run_pool(&args), 3, rows, cols);
        let on_default = [&args[..], &["--default-stream"]].concat();
        assert_ticks_are_right(&run_pool(&on_default), 3, rows, cols);
    }
}

#[test]
fn every_seed_gives_the_same_values() {
    let run = |seed: u64| {
        let seed = seed.to_string();
        run_pool(&["--platform", "host", "--rows", "9", "--cols", "65", "--json", "--seed", &seed])
    };
    let first = run(0);
    assert_ticks_are_right(&first, 10, 9, 65);
    for seed in 1..16 {
        assert_eq!(text(&run(seed).stdout), text(&first.stdout), "seed {seed}");
    }
}

#[test]
fn one_element_is_exactly_one() {
    let args = ["--platform", "host", "--rows", "1", "--cols", "1", "--count", "1", "--json"];
    let expected =
        r#"{"tick":0,"shape":[1],"dtype":"float32","head":[1.0],"sum":1.0}"#.to_string() + "\n";
    assert_eq!(text(&run_pool(&args).stdout), expected);
}

#[test]
fn the_race_is_reported_as_the_readme_says() {
    // git may have changed the line ends of the README.
    let readme = include_str!("../../README.md").replace("\r\n", "\n");
    for seed in ["0", "1", "6", "7"] {
        let output = run_race(&["--platform", "host", "--seed", seed]);
        assert_fails(&output, 1, &["`hasty.extra` must wait"]);
        // The README shows the report of one seed.
        let report = text(&output.stderr).replace(&format!("seed({seed})"), "seed(0)");
        assert!(
            readme.contains(&format!("```text\n{report}```\n")),
            "not in the README:\n{report}"
        );
    }
}

/// The graph in the README is the text of the program `gain` without its `main`.
#[test]
fn the_readme_has_the_graph_of_gain() {
    let [readme, program] = [include_str!("../../README.md"), include_str!("../src/bin/gain.rs")]
        .map(|text| text.replace("\r\n", "\n"));
    let begin = program.find("/// Multiplies each element in place").unwrap();
    let graph = program[begin..].split("fn main()").next().unwrap();
    assert!(readme.contains(graph), "the README shows another graph than:\n{graph}");
}

#[test]
fn the_human_format_has_a_line_per_tick() {
    let output = run_pool(&["--platform", "host", "--rows", "6", "--cols", "6", "--count", "2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("running on host"), "{lines:?}");
    assert!(lines[2].starts_with("tick 1: [6] float32, values ["), "{lines:?}");
}

#[test]
fn usage_mistakes_exit_with_2() {
    for (args, words) in [
        (&["--count", "0"][..], &["--count", "0 is not in 1.."][..]),
        (&["--rows", "0"], &["--rows", "0 is not in 1.."]),
        (&["--default-stream"], &["--default-stream"]),
        (&["--platform", "cuda", "--seed", "1"], &["only the host simulator takes a seed"]),
        (&["--rows", "4294967295", "--cols", "4294967295"], &["4294967295 rows"]),
    ] {
        assert_fails(&run_temporal_filter(args), 2, words);
    }
    for (args, words) in [
        (&["--colour"][..], &["--colour", "unexpected"][..]),
        (&["stray"], &["stray"]),
        (&["--count", "0"], &["--count", "0 is not in 1.."]),
        (&["--rows", "0"], &["--rows", "0 is not in 1.."]),
        (&["--cols", "0"], &["--cols", "0 is not in 1.."]),
        (&["--rows", "-1"], &["-1"]),
        (&["--cols", "many"], &["--cols", "many"]),
        (&["--platform", "rocm"], &["rocm", "auto", "host", "cuda"]),
        (&["--seed"], &["--seed"]),
        (&["--platform", "cuda", "--seed", "1"], &["only the host simulator takes a seed"]),
        (&["--rows", "4294967295", "--cols", "4294967295"], &["4294967295 rows"]),
    ] {
        assert_fails(&run_pool(args), 2, words);
    }
    for (args, words) in [
        (&[][..], &["IN.png", "OUT.png"][..]),
        (&["in.png"], &["OUT.png"]),
        (&["in.png", "out.png", "more.png"], &["more.png"]),
        (&["in.png", "out.png", "--repeat", "0"], &["--repeat", "0 is not in 1.."]),
        (&["in.png", "out.png", "--count", "1"], &["--count"]),
        (
            &["in.png", "out.png", "--platform", "cuda", "--seed", "1"],
            &["only the host simulator takes a seed"],
        ),
    ] {
        assert_fails(&run_edges(args), 2, words);
    }
}

#[test]
fn the_output_with_workers_is_that_without() {
    let directory = tempfile::tempdir().unwrap();
    let (input, edges) = (directory.path().join("in.png"), directory.path().join("out.png"));
    fs::write(&input, ASTRONAUT).unwrap();
    let run = |workers: &[&str]| {
        let size = ["--platform", "host", "--rows", "9", "--cols", "33", "--json"];
        let pool = run_pool(&[&size[..], workers].concat());
        let files = [input.to_str().unwrap(), edges.to_str().unwrap(), "--platform", "host"];
        let found = run_edges(&[&files[..], workers].concat());
        // Which tick gets a new weight depends on time. The program itself checks every value.
        let filter = run_temporal_filter(&[&size[..6], workers].concat());
        for output in [&pool, &found, &filter] {
            assert!(output.status.success(), "{workers:?}: {}", text(&output.stderr));
        }
        (text(&pool.stdout).to_owned(), fs::read(&edges).unwrap())
    };
    let without = run(&[]);
    for workers in ["1", "2", "4"] {
        assert!(run(&["--workers", workers]) == without, "{workers} workers");
    }
}

#[test]
fn workers_that_cannot_be_exit_with_2() {
    for bad in ["0", "-1", "two", "65536"] {
        let args = ["--workers", bad];
        for output in [
            run_pool(&args),
            run_temporal_filter(&args),
            run_edges(&["in.png", "out.png", "--workers", bad]),
        ] {
            assert_fails(&output, 2, &[bad]);
        }
    }
}

#[test]
fn out_of_memory_exits_with_1() {
    let args = ["--platform", "host", "--json", "--rows", "2000000", "--cols", "2000000"];
    for output in [run_pool(&args), run_temporal_filter(&args)] {
        assert_fails(&output, 1, &["out of memory", "`compute`, tick 0"]);
    }
}

#[test]
fn the_filter_is_right_under_every_seed() {
    let run = |seed: u64, more: &[&str]| {
        let seed = seed.to_string();
        let args = ["--platform", "host", "--rows", "7", "--cols", "33", "--count", "13", "--seed"];
        let mut program = started::program(env!("CARGO_BIN_EXE_temporal_filter"));
        // With workers, a weight may come one frame too early.
        program.env_remove("RUST_LOG").env_remove("STREAMFLOW_WORKERS");
        program.args(args).arg(seed).args(more).output().unwrap()
    };
    let first = run(0, &["--json"]);
    let frames = ticks(&first);
    assert_eq!(frames.len(), 13);
    let mut weight = 0.0;
    for (number, frame) in (0_u64..).zip(&frames) {
        weight = temporal::weight_of(number).unwrap_or(weight);
        let expected = temporal::reference(7 * 33, number, weight);
        assert_eq!(frame["tick"], number);
        assert_eq!(frame["shape"], serde_json::json!([7, 33]));
        for (value, expected) in frame["head"].as_array().unwrap().iter().zip(&expected) {
            let off = (value.as_f64().unwrap() - expected).abs();
            assert!(off <= temporal::TOLERANCE, "tick {number}: {value}, not {expected}");
        }
        let sum: f64 = expected.iter().sum();
        let off = (frame["sum"].as_f64().unwrap() - sum).abs();
        assert!(off <= temporal::TOLERANCE * 231.0, "tick {number}: off by {off:e}");
    }
    for seed in 1..16 {
        assert_eq!(text(&run(seed, &["--json"]).stdout), text(&first.stdout), "seed {seed}");
    }
    let human = run(0, &[]);
    let last = text(&human.stdout).lines().last().unwrap().to_owned();
    assert_eq!(last, "all 3003 values are within 9.5e-7 of the reference");
}

/// The program itself checks every value.
#[test]
fn chunks_overlap_under_every_seed() {
    let run = |seed: u64, more: &[&str]| {
        let seed = seed.to_string();
        let args =
            ["--platform", "host", "--rows", "64", "--cols", "1000", "--count", "2", "--seed"];
        run_overlap(&[&args[..], &[&seed], more].concat())
    };
    for seed in 0..8 {
        let first = run(seed, &["--json", "--chunks", "8"]);
        let runs = ticks(&first);
        assert_eq!(runs.len(), 2);
        for (number, one) in runs.iter().enumerate() {
            assert_eq!(
                (&one["run"], &one["chunks"], &one["streams"]),
                (&number.into(), &8.into(), &4.into())
            );
            assert_eq!(one["clock"], "simulated");
            let value = |name: &str| one[name].as_f64().unwrap();
            let ratio = value("one_ms") / value("several_ms");
            assert!((ratio - value("ratio")).abs() < 1e-9, "{one}");
            assert!(ratio > 1.5, "seed {seed}: nothing overlaps: {one}");
        }
        let again = run(seed, &["--json", "--chunks", "8"]);
        assert_eq!(text(&again.stdout), text(&first.stdout), "seed {seed}");
    }
    for more in
        [&["--chunks", "1"][..], &["--chunks", "64"], &["--chunks", "3", "--default-stream"]]
    {
        let output = run(3, more);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let lines: Vec<&str> = text(&output.stdout).lines().collect();
        assert!(lines[0].starts_with("running on host"), "{lines:?}");
        assert!(lines[1].starts_with("run 0: ") && lines[1].contains("simulated ms"), "{lines:?}");
        assert!(lines[2].contains("ratio "), "{lines:?}");
    }
    // A single chunk overlaps with nothing.
    let one = ticks(&run(0, &["--json", "--chunks", "1"]));
    assert_eq!((&one[0]["streams"], &one[0]["ratio"]), (&1.into(), &serde_json::json!(1.0)));
}

#[test]
fn usage_mistakes_of_overlap_exit_with_2() {
    for (args, words) in [
        (&["--chunks", "0"][..], &["--chunks", "0 is not in 1.."][..]),
        (&["--rows", "0"], &["--rows", "0 is not in 1.."]),
        (&["--count", "0"], &["--count", "0 is not in 1.."]),
        (&["--rows", "7", "--chunks", "8"], &["7 rows can't be divided into 8 chunks"]),
        (&["--mermaid"], &["--mermaid"]),
        (&["--platform", "cuda", "--seed", "1"], &["only the host simulator takes a seed"]),
        (&["--rows", "4294967295", "--cols", "4294967295"], &["4294967295 rows"]),
    ] {
        assert_fails(&run_overlap(args), 2, words);
    }
}

/// Returns the identifier of a node in a Mermaid chart.
fn id<'a>(chart: &'a str, node: &str) -> &'a str {
    let label = format!("[\"{node}: ");
    let line = chart.lines().find(|line| line.contains(&label)).unwrap_or_default();
    line.trim().split('[').next().unwrap_or_default()
}

#[test]
fn the_mermaid_flag_needs_no_files_and_no_platform() {
    for (output, edges, word) in [
        (run_pool(&["--mermaid"]), &[("source1", "image → in1", "combine_and_sum")][..], "STREAMS"),
        (run_pool(&["--mermaid", "--default-stream"]), &[], "[\"source1: Source\"]"),
        (run_edges(&["--mermaid"]), &[("blur_columns", "convolved → image", "sobel_x")], ""),
        (
            run_temporal_filter(&["--mermaid"]),
            &[("control", "weight → weight", "average")],
            "(copy)",
        ),
    ] {
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "");
        let chart = text(&output.stdout);
        assert!(chart.starts_with("flowchart LR\n") && chart.ends_with('\n'), "{chart}");
        assert!(chart.contains(word), "`{word}` is missing: {chart}");
        for (from, label, to) in edges {
            let edge = format!("{} -- \"{label}\" --> {}\n", id(chart, from), id(chart, to));
            assert!(chart.contains(&edge), "`{edge}` is missing: {chart}");
        }
    }
}

#[test]
fn a_full_disk_is_an_error() {
    // Some systems do not have the device `/dev/full`.
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else { return };
    let output = started::program(env!("CARGO_BIN_EXE_cuda_stream_pool"))
        .args(["--platform", "host", "--rows", "4", "--cols", "4", "--json"])
        .stdout(full)
        .output()
        .unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{stderr}");
}

#[test]
fn a_pipe_that_its_reader_closes_is_not_an_error() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let mut child = started::program(env!("CARGO_BIN_EXE_cuda_stream_pool"))
        .args(["--platform", "host", "--rows", "4", "--cols", "4", "--count", "100000", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with(r#"{"tick":0,"#), "{line}");
    // The reader was dropped above, so the pipe is closed.
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stderr), "");
    assert!(output.status.success(), "{:?}", output.status);
}

#[test]
fn the_astronaut_has_the_right_edges() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("in.png"), dir.path().join("out.png"));
    fs::write(&input, ASTRONAUT).unwrap();
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    for more in [&["--seed", "0"][..], &["--seed", "3", "--repeat", "3"]] {
        let run = run_edges(&[&[input, output, "--platform", "host"], more].concat());
        assert!(run.status.success(), "{}", text(&run.stderr));
        // stderr is not a terminal, so the program shows no progress bar.
        assert_eq!(text(&run.stderr), "");
        assert!(text(&run.stdout).contains("512 x 512"), "{}", text(&run.stdout));

        let image = png_io::read(Path::new(input)).unwrap();
        let found = png_io::read(Path::new(output)).unwrap();
        assert_eq!((found.width, found.height), (512, 512));
        let expected = edges::reference(&image);
        for (i, (found, expected)) in found.rgb.chunks(3).zip(expected).enumerate() {
            let off = (f64::from(found[0]) - expected).abs();
            assert!(off <= edges::TOLERANCE, "pixel {i}: {found:?}, not {expected}");
        }
        fs::remove_file(output).unwrap();
    }
}

#[test]
fn a_failure_writes_no_output_and_keeps_an_old_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (text_file, cut) = (path("text.png"), path("cut.png"));
    fs::write(&text_file, "this is not a photograph").unwrap();
    fs::write(&cut, &ASTRONAUT[..ASTRONAUT.len() / 2]).unwrap();
    let (fresh, old) = (path("fresh.png"), path("old.png"));
    fs::write(&old, "old").unwrap();
    let before = fs::read_dir(dir.path()).unwrap().count();
    for input in [&path("missing.png"), &text_file, &cut, &dir.path().to_str().unwrap().into()] {
        for output in [&fresh, &old] {
            let run = run_edges(&[input, output, "--platform", "host"]);
            assert_fails(&run, 1, &[input, "caused by: "]);
        }
    }
    assert_eq!(fs::read(&old).unwrap(), b"old");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "a temporary file is left");
}

#[test]
fn an_error_names_the_output_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let input = path("in.png");
    fs::write(&input, ASTRONAUT).unwrap();
    for output in [path("no/such/directory/out.png"), dir.path().to_str().unwrap().into()] {
        let run = run_edges(&[&input, &output, "--platform", "host"]);
        assert_fails(&run, 1, &[&output, "cannot write", "caused by: "]);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file is left");
}

#[test]
fn the_report_flag_says_why_the_run_ended() {
    let output =
        run_pool(&["--platform", "host", "--rows", "2", "--cols", "3", "--count", "4", "--report"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&output.stderr);
    for words in
        ["the run ended: all sources are done", "combine_and_sum", "ticks/s", "host simulator"]
    {
        assert!(report.contains(words), "{report}");
    }
    // The row of a node has its name, its ticks, and its ticks per second.
    let is_row =
        |line: &&str| matches!(line.split_whitespace().collect::<Vec<_>>()[..], [_, "4", _]);
    let ticks = report.lines().filter(is_row).count();
    assert_eq!(ticks, 4, "each node did 4 ticks:\n{report}");
    // The report has statistics of each node, and of the path to the sink from the source with the earlier data.
    for words in ["host time of a tick", "latency of a path", "p99", " → rx"] {
        assert!(report.contains(words), "{report}");
    }
    let row = |line: &str, name| line.starts_with(name) && line.contains(" 4  ");
    for name in ["source1 ", "source2 ", "combine_and_sum ", "rx "] {
        assert!(report.lines().any(|line| row(line, name)), "{name}:\n{report}");
    }
    // On one thread the path begins at `source1` in each tick; with workers it begins at either of the two sources.
    let paths = report.lines().filter_map(|line| line.split_once(" → rx "));
    let count = |(source, row): (&str, &str)| -> Option<(bool, u64)> {
        Some((source == "source1", row.split_whitespace().next()?.parse().ok()?))
    };
    let counts: Vec<_> = paths.filter_map(count).collect();
    assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), 4, "{report}");
    let is_greedy = std::env::var_os("STREAMFLOW_WORKERS").is_none();
    assert!(!is_greedy || counts == [(true, 4)], "{report}");
    assert!(!report.contains("simulated time"), "{report}");
}

#[test]
fn a_report_under_a_seed_has_simulated_times() {
    let flags = ["--platform", "host", "--rows", "2", "--cols", "3", "--count", "2", "--report"];
    let reports = [0, 1].map(|_| {
        let output = run_pool(&[&flags[..], &["--seed", "3"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr).to_owned()
    });
    assert!(reports[0].contains("simulated time"), "{}", reports[0]);
    assert_eq!(reports[0], reports[1], "a seed repeats a report");
}
