//! Algorithms of products that are printed, stored, and given to another plan.

use streamflow::prelude::*;
use streamflow_math::matmul::{Algorithm, Matmul};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::hook::{once, tensor};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("an_algorithm_is_stored_as_text_and_given_back", given_back)
        .both("a_search_finds_an_algorithm_that_a_plan_takes", searched)
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

fn searched(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let a = tensor(cx, work, &[3, 64, 32], &[1.0_f32; 3 * 64 * 32])?;
        let b = tensor(cx, work, &[32, 16], &[2.0; 32 * 16])?;
        let bias = cx.upload(&[-0.5_f32; 16])?;
        let mut c = cx.tensor([3, 64, 16], work)?;
        let planner = Matmul::<f32>::plan(64, 16, 32).batch(3).share_b().bias().relu();
        let found = planner.search_blocking(cx, work, 4)?;
        let all: Vec<_> = found.candidates().copied().collect();
        check((1..=4).contains(&all.len()), || format!("{all:?}"))?;
        check_equal(found.fastest(), all[0].algorithm())?;
        let text = found.to_string();
        check_equal(text.lines().count(), all.len())?;
        let info = cx.platform().driver().device_info(cx.device())?;
        check_equal(all[0].time().is_simulated(), info.is_simulated)?;
        let stored: Algorithm = found.fastest().to_string().parse()?;
        let planner = if info.is_simulated {
            check_text(&text, &["simulated: simulator"])?;
            check_equal(all.len(), 1)?;
            planner
        } else {
            check_text(&text, &["cublaslt=", " data="])?;
            planner.algorithm(stored)
        };
        let mut plan = planner.on(cx, work)?;
        check_equal(plan.algorithm(), stored)?;
        plan.execute(work, &a, &b, &bias, &mut c)?;
        check(work.download_blocking(&c)?.iter().all(|&x| x == 63.5), || "wrong products".into())
    })
}

const STORED: &str =
    "cublaslt=1 id=2 tile=3 stages=4 splits=5 workspace=6 alignment=16 data=0,1,2,3,4,5,6,7";

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
        // This algorithm is for operands that are better aligned than the plan's.
        let aligned = planner.on(cx, work)?.algorithm();
        let done = planner.unaligned().algorithm(aligned).on(cx, work).map(|_| ());
        let text = check_error("another alignment", done, |_| true)?;
        check_text(&text, &["multiples of 256 bytes", "`alignment(256)`"])?;
        planner.algorithm(planner.unaligned().on(cx, work)?.algorithm()).on(cx, work)?;
        // This algorithm is that of a product of another size.
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
