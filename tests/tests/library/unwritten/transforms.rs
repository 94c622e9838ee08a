//! The functions of transforms, of random numbers, and of a library that only the tests have.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::fft::{Fft, InverseRealFft, Norm, RealFft};
use streamflow_math::random::Philox;
use streamflow_tests::foreign::CopyLibrary;

use super::attempts::{Function, N, planless, updates, writes};

const NEEDED: Norm = Norm::ByLength;

pub(super) const FUNCTIONS: &[Function] = &[
    writes("Fft::forward", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Fft::<f32>::plan(N).on(cx, s)?),
            |plan, t| {
                let (x, mut y) = (t.zeros::<Complex<f32>>(&[t.len()])?, t.zeros(&[N])?);
                t.calls(|s| plan.forward(s, &x, &mut y))?;
                Ok(y)
            },
        )
    }),
    writes("Fft::inverse", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Fft::<f32>::plan(N).norm(NEEDED).on(cx, s)?),
            |plan, t| {
                let (x, mut y) = (t.zeros::<Complex<f32>>(&[t.len()])?, t.zeros(&[N])?);
                t.calls(|s| plan.inverse(s, &x, &mut y))?;
                Ok(y)
            },
        )
    }),
    updates("Fft::forward_in_place", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Fft::<f32>::plan(N).on(cx, s)?),
            |plan, t| {
                let mut data = t.zeros::<Complex<f32>>(&[t.len()])?;
                t.calls(|s| plan.forward_in_place(s, &mut data))?;
                Ok(data)
            },
        )
    }),
    updates("Fft::inverse_in_place", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Fft::<f32>::plan(N).norm(NEEDED).on(cx, s)?),
            |plan, t| {
                let mut data = t.zeros::<Complex<f32>>(&[t.len()])?;
                t.calls(|s| plan.inverse_in_place(s, &mut data))?;
                Ok(data)
            },
        )
    }),
    writes("RealFft::forward", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(RealFft::<f32>::plan(N).on(cx, s)?),
            |plan, t| {
                let (x, mut y) = (t.zeros(&[t.len()])?, t.zeros::<Complex<f32>>(&[N / 2 + 1])?);
                t.calls(|s| plan.forward(s, &x, &mut y))?;
                Ok(y)
            },
        )
    }),
    updates("RealFft::forward_in_place", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(RealFft::<f32>::plan(N).in_place().on(cx, s)?),
            |plan, t| {
                let mut data = t.zeros::<Complex<f32>>(&[t.len() / 2 + 1])?;
                t.calls(|s| plan.forward_in_place(s, &mut data))?;
                Ok(data)
            },
        )
    }),
    writes("InverseRealFft::inverse", |it, platform| {
        let plan =
            |cx: &_, s: &Stream<'_>| Ok(InverseRealFft::<f32>::plan(N).norm(NEEDED).on(cx, s)?);
        it.sends(platform, plan, |plan, t| {
            let (mut x, mut y) = (t.zeros(&[t.len() / 2 + 1])?, t.zeros(&[N])?);
            t.calls(|s| plan.inverse(s, &mut x, &mut y))?;
            Ok(y)
        })
    }),
    updates("InverseRealFft::inverse_in_place", |it, platform| {
        let plan =
            |cx: &_, s: &Stream<'_>| Ok(InverseRealFft::<f32>::plan(N).in_place().on(cx, s)?);
        it.sends(platform, plan, |plan, t| {
            let mut data = t.zeros(&[t.len() / 2 + 1])?;
            t.calls(|s| plan.inverse_in_place(s, &mut data))?;
            Ok(data)
        })
    }),
    planless(writes("Philox::uniform", |it, platform| {
        it.sends(
            platform,
            |_, _| Ok(Philox::<f32>::new(1)),
            |random, t| {
                let mut out = t.zeros(&[N])?;
                t.calls(|s| random.uniform(s, &mut out))?;
                Ok(out)
            },
        )
    })),
    planless(writes("Philox::normal", |it, platform| {
        it.sends(
            platform,
            |_, _| Ok(Philox::<f64>::new(1)),
            |random, t| {
                let mut out = t.zeros(&[N])?;
                t.calls(|s| random.normal(s, &mut out, 0.0, 1.0))?;
                Ok(out)
            },
        )
    })),
    planless(writes("Philox::fill_u32", |it, platform| {
        it.sends(
            platform,
            |_, _| Ok(Philox::new(1)),
            |random, t| {
                let mut out = t.zeros(&[N])?;
                t.calls(|s| random.fill_u32(s, &mut out))?;
                Ok(out)
            },
        )
    })),
    planless(updates("Call::queue of another library", |it, platform| {
        let library = CopyLibrary::new(platform)?;
        it.sends(
            platform,
            move |_, _| Ok(library.clone()),
            |library, t| {
                let (from, mut to) = (t.zeros::<f32>(&[N])?, t.zeros::<f32>(&[N])?);
                t.calls(|s| Ok(library.copy(s, &from, &mut to)?))?;
                Ok(to)
            },
        )
    })),
];
