//! Ranges of parameters.

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};

use super::operators::{Radar, radar};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_value_out_of_range_is_refused_and_changes_nothing", refused)
        .both("a_graph_whose_operator_begins_out_of_range_is_not_made", at_the_beginning)
        .both("a_run_whose_field_is_out_of_range_does_not_begin", in_a_field)
        .both("each_form_of_a_range_has_its_ends", forms)
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 2)?;
    let handle = graph.params();
    for (value, text) in
        [(1.5, "1.5"), (-0.125, "-0.125"), (f32::NAN, "NaN"), (f32::INFINITY, "inf")]
    {
        let done = handle.cfar().set_threshold(value);
        let error = check_error("out of range", done, |error| {
            matches!(error, Error::ParamOutOfRange { parameter: "threshold", .. })
        })?;
        let wanted = format!(
            "parameter `threshold` of node `cfar` can't be {text}: its range is 0.0..=1.0; choose a value of the range"
        );
        check_equal(error, wanted)?;
    }
    let report = graph.run()?;
    check_equal(graph.cfar().thresholds(), vec![0.25; 2])?;
    check_equal(report.parameters.len(), 0)
}

fn at_the_beginning(platform: &Platform) -> Result<(), Failed> {
    let made = Radar::new(platform, 1, 2.0, Box::new(|_| {})).map(drop);
    let error = check_error("a threshold of 2", made, |_| true)?;
    check_text(&error, &["`threshold` of node `cfar` can't be 2.0", "0.0..=1.0"])
}

fn in_a_field(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 1)?;
    graph.cfar_mut().change_field(f32::NAN);
    let error = check_error("a NaN in the field", graph.run(), |_| true)?;
    check_text(&error, &["`cfar` failed in `start`", "can't be NaN", "0.0..=1.0"])?;
    graph.params().cfar().set_threshold(0.5)?;
    graph.run()?;
    check_equal(graph.cfar().thresholds(), vec![0.5])
}

const MOST: i32 = 8;

#[operator]
struct Ranges {
    #[input]
    number: u64,
    #[param(range = -4..MOST)]
    half_open: i32,
    #[param(range = ..=1.5)]
    to: f64,
    #[param(range = "b".to_owned()..)]
    from: String,
    /// A name that needs `r#`.
    #[param]
    r#type: u8,
    #[cfg(any())]
    #[param]
    left_out: Tensor<f32>,
}

impl Compute for Ranges {
    fn compute(&mut self, io: RangesIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

fn forms(platform: &Platform) -> Result<(), Failed> {
    let harness = OperatorHarness::new(platform, Ranges::new(0, 0.0, "c".into(), 1))?;
    let params = harness.params();
    check_equal(
        [-5, -4, 7, 8].map(|value| params.set_half_open(value).is_ok()),
        [false, true, true, false],
    )?;
    check_equal([-1e300, 1.5, 1.6].map(|value| params.set_to(value).is_ok()), [true, true, false])?;
    check_equal(
        ["a", "b", "zz"].map(|value| params.set_from(value.into()).is_ok()),
        [false, true, true],
    )?;
    params.set_type(2)?;
    check_equal(params.r#type(), 2)?;
    let texts = [params.set_half_open(9), params.set_to(f64::NAN), params.set_from(String::new())]
        .map(|done| done.map_err(|error| error.to_string()).err().unwrap_or_default());
    for (text, range) in texts.iter().zip(["is -4..8;", "is ..=1.5;", "is \"b\"..;"]) {
        check_text(text, &[range])?;
    }
    Ok(())
}
