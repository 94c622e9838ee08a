//! The arguments that plans and calls refuse, with their texts, before anything is queued.

use streamflow::driver::DriverError;
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_math::fft::{self, Fft, InverseRealFft, Layout, Norm, RealFft};
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::within::{stream, within};
use crate::library::in_tick::is_operand;

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_plan_refuses_shapes_and_layouts", plans)
        .both("a_call_refuses_other_lengths_and_memory", calls)
        .both("a_plan_is_not_used_on_another_stream", other_stream)
        .host("a_line_that_the_simulator_has_no_room_for_is_an_error", no_room)
}

/// Checks that a plan that is too large is refused before `rustfft` allocates memory for it, since a failed
/// allocation would end the process.
fn no_room(platform: &Platform) -> Result<(), Failed> {
    within(platform, |cx| {
        let s = stream(cx, "a")?;
        let made = Fft::<f32>::plan([1 << 33]).on(cx, &s).map(drop);
        let is_full = |error: &Error| matches!(error, Error::Driver(DriverError::OutOfMemory { requested, .. }) if *requested == 1 << 37);
        check_error("2^33 elements", made, is_full)?;
        // The platform can still be used.
        Fft::<f32>::plan([8]).on(cx, &s).map(drop)?;
        Ok(())
    })
}

fn refuses<T: std::fmt::Debug>(made: Result<T, Error>, text: &str) -> Result<(), Failed> {
    let found = check_error(text, made, is_operand)?;
    check_text(&found, &[text])
}

fn plans(platform: &Platform) -> Result<(), Failed> {
    within(platform, |cx| {
        let s = stream(cx, "a")?;
        let fft = |shape: &[usize]| Fft::<f32>::plan(shape);
        refuses(
            fft(&[2, 3, 4, 5]).on(cx, &s),
            "`fft::Fft`: `shape` is [2, 3, 4, 5], but a transform has 1 to 3 dimensions; others are its `batch`",
        )?;
        refuses(fft(&[]).on(cx, &s), "`shape` is [], but")?;
        refuses(
            fft(&[4, 0]).on(cx, &s),
            "`shape` is [4, 0], but a transform of no elements is not defined; no transforms are `.batch(0)`",
        )?;
        refuses(
            fft(&[4]).batch(2).output(Layout::embedded([4]).distance(3)).on(cx, &s),
            "`fft::Fft`: `output` has one place for elements of transforms 0 and 1, but each is written; raise the \
             distance of 3",
        )?;
        refuses(
            fft(&[4, 4]).input(Layout::embedded([4, 3])).on(cx, &s),
            "`input` is embedded in 3 elements of dimension 1, but a transform has 4 there; write at least 4",
        )?;
        refuses(
            fft(&[4]).input(Layout::embedded([4, 3])).on(cx, &s),
            "`input` is embedded in 2 dimension(s), but the transform has 1; write 1 lengths",
        )?;
        refuses(
            fft(&[1 << 40]).batch(1 << 30).on(cx, &s),
            "more elements than addresses can have",
        )?;
        refuses(
            RealFft::<f64>::plan([4]).in_place().output(Layout::embedded([3])).on(cx, &s),
            "`fft::RealFft`: `layout` is not used in place",
        )?;
        // A transform to real numbers overwrites its input, so the input's windows may not overlap either.
        let windows = Layout::embedded([5]).distance(2);
        refuses(
            InverseRealFft::<f32>::plan([8]).batch(2).input(windows).on(cx, &s),
            "`fft::InverseRealFft`: `input` has one place for elements of transforms 0 and 1",
        )?;
        RealFft::<f32>::plan([5]).batch(2).input(windows).on(cx, &s)?;
        Ok(())
    })
}

fn calls(platform: &Platform) -> Result<(), Failed> {
    within(platform, |cx| {
        let s = stream(cx, "a")?;
        let mut fft = Fft::<f32>::plan([8]).batch(2).on(cx, &s)?;
        let x = cx.upload(&[Complex::new(0.0_f32, 0.0); 16])?;
        let (mut y, mut short) = (cx.tensor([16], &s)?, cx.tensor([15], &s)?);
        let text = "`fft::Fft`: `y` has 15 elements, but the plan needs 16";
        refuses(fft.forward(&s, &x, &mut short), text)?;
        refuses(fft.forward(&s, &short, &mut y), "`x` has 15 elements, but the plan needs 16")?;
        refuses(fft.inverse_in_place(&s, &mut short), "`data` has 15 elements")?;
        let apart = Layout::embedded([8]).distance(9);
        let mut fft = Fft::<f32>::plan([8]).batch(2).output(apart).on(cx, &s)?;
        refuses(
            fft.forward(&s, &x, &mut y),
            "`y` has 16 elements, but the plan needs at least 17",
        )?;
        refuses(
            fft.forward_in_place(&s, &mut y),
            "`data` is transformed in place, but the plan's layouts are not the same",
        )?;

        let mut real = RealFft::<f32>::plan([8]).on(cx, &s)?;
        let reals = cx.upload(&[0.0_f32; 10])?;
        let mut half = cx.tensor([5], &s)?;
        refuses(
            real.forward_in_place(&s, &mut half),
            "`data` is transformed in place, but the plan has rows of real numbers without room for a spectrum",
        )?;
        let odd = reals.slice(1..9).ok_or(Failure::msg("no part"))?;
        refuses(
            real.forward(&s, &odd, &mut half),
            "`x` begins at an address that is no multiple of 8, the size of a complex number",
        )?;
        let even = reals.slice(2..10).ok_or(Failure::msg("no part"))?;
        real.forward(&s, &even, &mut half)?;
        let mut in_place = RealFft::<f32>::plan([8]).in_place().on(cx, &s)?;
        refuses(in_place.forward(&s, &even, &mut half), "`y` is not used by this plan")?;

        let scalar = cx.upload(&[Complex::new(0.0_f32, 0.0)])?.reshape([1, 1, 1, 1])?;
        refuses(fft::forward(cx, &s, &scalar), "a transform has 1 to 3 dimensions")?;
        refuses(
            fft::inverse_real(cx, &s, &mut half, 10, Norm::None),
            "`fft::inverse_real`: `x` has rows of 5, but 10 real numbers have a spectrum of 6",
        )?;
        Ok(())
    })
}

fn other_stream(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    within(&platform, move |cx| {
        let (a, b) = (stream(cx, "a")?, stream(cx, "b")?);
        let mut fft = Fft::<f32>::plan([8]).on(cx, &a)?;
        let x = cx.upload(&[Complex::new(1.0_f32, 0.0); 8])?;
        let mut y = cx.tensor([8], &a)?;
        recorder.clear();
        let found = fft.forward(&b, &x, &mut y);
        check_error("another stream", found, |error| matches!(error, Error::OtherStream { .. }))?;
        check_equal(recorder.calls().len(), 0)?;
        fft.forward(&a, &x, &mut y)?;
        let calls = recorder.calls();
        let is_call = |call: &Call| matches!(call, Call::Library { .. });
        check(calls.iter().any(is_call), || format!("{calls:?}"))?;
        Ok(())
    })
}
