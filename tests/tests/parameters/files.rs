//! Parameters from TOML.

use std::fs;

use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::operators::{Window, radar};

const GOOD: &str = r#"# The radar on the roof.
[cfar]
threshold = 0.5
window = { guard = 3, training = 5 }

[scale]
factor = "two"
"#;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_file_sets_all_parameters", good)
        .both("a_file_is_read_by_its_path", by_path)
        .both("a_handle_loads_a_file_while_the_graph_is_elsewhere", by_handle)
        .both("each_mistake_of_a_file_has_its_place", mistakes)
        .both("all_mistakes_of_a_file_are_reported_at_once", several)
        .both("a_file_with_a_mistake_sets_nothing", nothing)
        .both("a_file_that_is_not_toml_is_reported", no_toml)
        .both("a_graph_without_parameters_takes_an_empty_file_alone", without)
}

fn good(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 1)?;
    graph.load_params_str("radar.toml", GOOD)?;
    let report = graph.run()?;
    check_equal(&graph.cfar().seen, &vec![(0.5, Window { guard: 3, training: 5 })])?;
    check_equal(&graph.scale().seen, &vec!["two".to_owned()])?;
    let named: Vec<_> =
        report.parameters.iter().map(|change| (change.parameter, change.tick)).collect();
    check_equal(named, vec![("threshold", 0), ("window", 0), ("factor", 0)])
}

fn by_path(platform: &Platform) -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("radar.toml");
    fs::write(&path, GOOD)?;
    let graph = radar(platform, 1)?;
    graph.load_params(&path)?;
    check_equal(graph.params().cfar().threshold(), 0.5)?;
    let absent = directory.path().join("absent.toml");
    let error = check_error("no file", graph.load_params(&absent), |error| {
        matches!(error, Error::ParamsFile { .. })
    })?;
    check_text(&error, &["absent.toml", "can't be read"])
}

fn by_handle(platform: &Platform) -> Result<(), Failed> {
    let graph = radar(platform, 1)?;
    let handle = graph.params();
    std::thread::spawn(move || handle.load_params_str("radar.toml", GOOD))
        .join()
        .map_err(|_| Failed::msg("it panicked"))??;
    check_equal(graph.params().scale().factor(), "two".to_owned())
}

/// Returns the problems of a TOML text.
fn problems(platform: &Platform, text: &str) -> Result<Vec<String>, Failed> {
    match radar(platform, 1)?.load_params_str("radar.toml", text) {
        Err(Error::ParamsFile { problems, .. }) => Ok(problems),
        other => Err(Failed::msg(format!("{other:?}, for\n{text}"))),
    }
}

fn mistakes(platform: &Platform) -> Result<(), Failed> {
    let cases: &[(&str, &str, &str)] = &[
        ("[cfar]", "[cfra]", "radar.toml:2:2: no node `cfra` has parameters; did you mean `cfar`?"),
        (
            "[scale]",
            "[ source ]",
            "radar.toml:6:3: no node `source` has parameters; those that have are `cfar`, `scale`",
        ),
        (
            "threshold = 0.5",
            "treshold = 0.5",
            "radar.toml:3:1: node `cfar` has no parameter `treshold`; did you mean `threshold`?",
        ),
        (
            "threshold = 0.5\n",
            "",
            "radar.toml:2:2: `cfar.threshold` is missing; write `threshold = …`, a `f32` in 0.0..=1.0",
        ),
        (
            "threshold = 0.5",
            "threshold = \"0.5\"",
            "radar.toml:3:13: `cfar.threshold`: invalid type: string \"0.5\", expected f32; it is a `f32` in 0.0..=1.0",
        ),
        (
            "threshold = 0.5",
            "\tthreshold = 1.5",
            "radar.toml:3:14: `cfar.threshold`: 1.5 is not in the range 0.0..=1.0; it is a `f32` in 0.0..=1.0",
        ),
        (
            "threshold = 0.5",
            "threshold = 1e40",
            "radar.toml:3:13: `cfar.threshold`: the number is too large; it is a `f32` in 0.0..=1.0",
        ),
        (
            "threshold = 0.5",
            "threshold = nan",
            "radar.toml:3:13: `cfar.threshold`: NaN is not in the range",
        ),
        (
            "guard = 3",
            "guard = -3",
            "radar.toml:4:20: `cfar.window`: invalid value: integer `-3`, expected u32",
        ),
        (
            "guard = 3",
            "gaurd = 3",
            "radar.toml:4:12: `cfar.window`: unknown field `gaurd`, expected `guard` or `training`",
        ),
        (
            "[scale]\nfactor = \"two\"\n",
            "",
            "radar.toml:6:1: the table of node `scale` is missing; write\n    [scale]\n    factor = …  # `String`",
        ),
        ("[cfar]", "scale = 3\n[cfar]", "radar.toml:7:2: duplicate key"),
    ];
    for (right, wrong, problem) in cases {
        let text = GOOD.replacen(right, wrong, 1);
        check(text != GOOD, || format!("{right} is not in the file"))?;
        let found = problems(platform, &text)?;
        let has = found.iter().any(|found| found.starts_with(problem));
        check(has, || format!("{found:#?} is not\n{problem}\nfor\n{text}"))?;
    }
    let found = problems(platform, "cfar = 3\nscale.factor = \"é\"\nscale.\"é\" = 1")?;
    check_equal(found.len(), 2)?;
    check_text(
        &found[0],
        &[
            "radar.toml:1:8: `cfar` is a node, and needs a table, but this is one value (integer); write",
        ],
    )?;
    check_text(&found[1], &["radar.toml:3:7: node `scale` has no parameter `é`; it has `factor`"])
}

fn several(platform: &Platform) -> Result<(), Failed> {
    let text = "[cfar]\nthreshold = 2\nwindow = 3\ngain = 1\n[scales]\nfactor = 1\n";
    let found = problems(platform, text)?;
    let places: Vec<&str> = found.iter().filter_map(|text| text.split(": ").next()).collect();
    let wanted = ["2:13", "3:10", "4:1", "5:2", "7:1"].map(|place| format!("radar.toml:{place}"));
    check_equal(places, wanted.iter().map(String::as_str).collect())?;
    let error =
        radar(platform, 1)?.load_params_str("radar.toml", text).map_err(|error| error.to_string());
    let error = error.err().unwrap_or_default();
    check_text(
        &error,
        &["the parameters of `radar.toml` were not set; correct the file:\n  radar.toml:2:13: "],
    )
}

fn nothing(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 1)?;
    let text = GOOD.replace("\"two\"", "2");
    check(graph.load_params_str("radar.toml", &text).is_err(), || "no error".into())?;
    let report = graph.run()?;
    check_equal((report.parameters.len(), graph.params().cfar().threshold()), (0, 0.25))?;
    check_equal(&graph.cfar().seen, &vec![(0.25, Window { guard: 2, training: 8 })])
}

fn no_toml(platform: &Platform) -> Result<(), Failed> {
    let found = problems(platform, "[cfar]\nthreshold = \n[scale\nfactor = 1\n")?;
    check(found.iter().any(|text| text.starts_with("radar.toml:2:1")), || format!("{found:?}"))?;
    check(found.iter().any(|text| text.starts_with("radar.toml:3:")), || format!("{found:?}"))
}

#[operator]
struct Sink {
    #[input]
    number: u64,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

graph! {
    struct Plain() {
        #[when(count(1))] let source: streamflow_tests::stereo::Counter = streamflow_tests::stereo::Counter::new();
        let sink: Sink = Sink::new();
        source.number >> sink.number;
    }
}

fn without(platform: &Platform) -> Result<(), Failed> {
    let graph = Plain::new(platform)?;
    graph.load_params_str("plain.toml", "# nothing\n")?;
    let done = graph.load_params_str("plain.toml", "[sink]\n");
    let error = check_error("a table", done, |_| true)?;
    check_text(&error, &["plain.toml:1:2", "no node of this graph has parameters; remove it"])
}
