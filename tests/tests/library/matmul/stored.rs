//! Algorithms: printed, stored, and given back.

use streamflow::library::matmul::{Algorithm, Matmul};
use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::hook::{once, tensor};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("an_algorithm_is_stored_as_text_and_given_back", given_back)
        .host("the_simulator_keeps_a_stored_algorithm", kept)
        .cuda("an_algorithm_of_another_place_is_refused", elsewhere)
        .cuda("an_algorithm_fits_the_limit_of_its_work_area", limited)
}

fn given_back(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let a = tensor(cx, work, &[64, 32], &[1.0_f32; 64 * 32])?;
        let b = tensor(cx, work, &[32, 16], &[2.0; 32 * 16])?;
        let mut c = cx.tensor([64, 16], work)?;
        let planner = Matmul::<f32>::plan(64, 16, 32).relu();
        let mut first = planner.on(cx, work)?;
        let text = first.algorithm().to_string();
        first.execute(work, &a, &b, &mut c)?;
        let found = work.download_blocking(&c)?;
        let stored: Algorithm = text.parse()?;
        let planner = if cx.platform().driver().device_info(cx.device())?.is_simulated {
            check_equal(text.as_str(), "simulator")?;
            planner
        } else {
            check_text(&text, &["cublaslt=", " id=", " workspace=", " data="])?;
            planner.algorithm(stored)
        };
        let mut second = planner.on(cx, work)?;
        check_equal(second.algorithm(), stored)?;
        second.execute(work, &a, &b, &mut c)?;
        check_equal(work.download_blocking(&c)?, found)
    })
}

const STORED: &str = "cublaslt=1 id=2 tile=3 stages=4 splits=5 workspace=6 data=0,1,2,3,4,5,6,7";

fn kept(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let stored: Algorithm = STORED.parse()?;
        let plan = Matmul::<f32>::plan(4, 4, 4).algorithm(stored).on(cx, work)?;
        check_equal(plan.algorithm().to_string(), STORED.to_owned())
    })
}

fn elsewhere(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let planner = Matmul::<f32>::plan(4, 4, 4);
        for (stored, part) in [
            ("simulator", "a stored algorithm is the simulator's"),
            (STORED, "the stored algorithm is of cuBLASLt 1, and this is"),
        ] {
            let done = planner.algorithm(stored.parse()?).on(cx, work).map(|_| ());
            check_text(&check_error(stored, done, |_| true)?, &[part, "without `algorithm`"])?;
        }
        // Of another product.
        let large = Matmul::<f64>::plan(512, 512, 512).on(cx, work)?.algorithm();
        let done = planner.algorithm(large).on(cx, work).map(|_| ());
        let text = check_error("another product", done, |_| true)?;
        check_text(&text, &["refuses the stored algorithm", "search again"])
    })
}

fn limited(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let without = Matmul::<f32>::plan(8, 8, 4096).workspace_limit(0).on(cx, work)?;
        check_equal(without.algorithm().workspace(), 0)?;
        let with = Matmul::<f32>::plan(8, 8, 4096).on(cx, work)?;
        check(with.algorithm().workspace() <= 32 << 20, || with.algorithm().to_string())
    })
}
