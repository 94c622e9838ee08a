//! Calls of libraries fail, and the hook drops their errors: no data is lost silently. `graph_failures/unwritten.rs` does the
//! same with launches and copies.
//!
//! A table has each function that writes memory of its caller. Each call that such a function makes of the driver fails in
//! turn, once with a target that is new and once with one that an earlier call has written.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::library::Plan;
use streamflow::library::fft::{Fft, InverseRealFft, Layout, Norm, RealFft};
use streamflow::library::matmul::{Blas, Matmul, Triangle};
use streamflow::library::random::Philox;
use streamflow::library::solve::{Checked, Cholesky, Eigen, Lu, Qr, Svd};
use streamflow::library::sparse::{Csr, SpMm, SpMv};
use streamflow::memory::{Complex, Element};
use streamflow::message::Device;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::foreign::CopyLibrary;
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::in_tick::in_tick;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("the_target_of_a_failed_library_call_is_not_sent", sent)
        .both("a_library_call_refuses_operands_that_are_not_written", operands)
        .both("a_result_whose_solver_has_failed_is_not_opened", opened)
        .both("a_library_call_whose_error_is_returned_marks_nothing", returned)
}

/// The number of elements in a dimension, and that of operands which fit no plan.
const N: usize = 4;
const OTHER: usize = 8;

/// How the call of a tick fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    /// It does not.
    Succeeds,
    /// Its stream is not that of the plan.
    OtherStream,
    /// An operand does not fit.
    Refused,
    /// This call of the driver fails.
    InDriver(CallKind, u64),
}

/// What a tick does.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    how: How,
    /// A call before has succeeded.
    is_second: bool,
    /// The call is made again, and the error of that is returned.
    again: bool,
}

/// The kinds of calls that can fail.
const KINDS: [CallKind; 4] =
    [CallKind::CallLibrary, CallKind::Launch, CallKind::Copy, CallKind::Fill];

/// One tick of the operator.
struct Tick<'t> {
    cx: &'t ExecutionContext,
    stream: &'t Stream<'t>,
    other: &'t Stream<'t>,
    attempt: Attempt,
    fails: &'t [Arc<FailNth>; 4],
    /// Whether the last call has succeeded.
    succeeded: &'t mut bool,
}

impl Tick<'_> {
    /// The length of what a call reads.
    fn len(&self) -> usize {
        if self.attempt.how == How::Refused { OTHER } else { N }
    }

    fn zeros<T: Element>(&self, shape: &[usize]) -> Result<Tensor<T>> {
        let mut zeros = self.cx.tensor(shape, self.stream)?;
        self.stream.fill_bytes(&mut zeros, 0)?;
        Ok(zeros)
    }

    fn checked<V>(&self, value: V) -> Result<Checked<V>> {
        Ok(Checked::new(value, self.cx, self.stream)?)
    }

    /// Calls, and drops the error.
    fn calls(&mut self, mut call: impl FnMut(&Stream<'_>) -> Result<(), Error>) -> Result<()> {
        let Attempt { how, is_second, again } = self.attempt;
        if is_second && how != How::Refused {
            call(self.stream)?;
        }
        if let How::InDriver(kind, nth) = how {
            let layers = KINDS.iter().zip(self.fails).filter(|(it, _)| **it == kind);
            layers.for_each(|(_, fails)| fails.fail_nth(nth));
        }
        let stream = if how == How::OtherStream { self.other } else { self.stream };
        *self.succeeded = call(stream).is_ok();
        self.fails.iter().for_each(|fails| fails.fail_nth(u64::MAX));
        if again {
            let done = call(self.stream);
            *self.succeeded = done.is_ok();
            done?;
        }
        Ok(())
    }
}

type Make<M> =
    Box<dyn FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<M> + Send + 'static>;

/// Sends the target of a call.
#[operator(streams(work, other, spare))]
struct Sends<M: Message<Place = Device>> {
    #[output]
    target: M,
    make: Make<M>,
}

impl<M: Message<Place = Device>> Compute for Sends<M> {
    fn compute(&mut self, io: SendsIo<'_, M>, cx: &ExecutionContext) -> Result<()> {
        let work = cx.allocate_cuda_stream(io.work)?;
        let other = cx.allocate_cuda_stream(io.other)?;
        let target = (self.make)(cx, &work, &other)?;
        io.target.set_cuda_stream(&work).emit(target)
    }
}

/// A function of the table.
struct Function {
    name: &'static str,
    /// Whether it overwrites all of its target.
    overwrites: bool,
    /// Whether it is one of a plan, whose stream and operands are checked.
    is_plan: bool,
    run: fn(&Function, &Platform) -> Result<(), Failed>,
}

/// A function that overwrites all of its target.
const fn writes(
    name: &'static str,
    run: fn(&Function, &Platform) -> Result<(), Failed>,
) -> Function {
    Function { name, overwrites: true, is_plan: true, run }
}

/// A function that may read what its target has.
const fn updates(
    name: &'static str,
    run: fn(&Function, &Platform) -> Result<(), Failed>,
) -> Function {
    Function { name, overwrites: false, is_plan: true, run }
}

/// A function without a plan.
const fn planless(function: Function) -> Function {
    Function { is_plan: false, ..function }
}

impl Function {
    /// Makes a plan once, and runs all attempts with it, each in a tick.
    fn sends<P: Send + 'static, M: Message<Place = Device>>(
        &self,
        platform: &Platform,
        plan: impl Fn(&ExecutionContext, &Stream<'_>) -> Result<P> + Send + 'static,
        run: impl Fn(&mut P, &mut Tick<'_>) -> Result<M> + Send + 'static,
    ) -> Result<(), Failed> {
        let mut driver = platform.driver().clone();
        let fails = KINDS.map(|kind| {
            let fails = Arc::new(FailNth::new(driver.clone(), kind, u64::MAX));
            driver = fails.clone();
            fails
        });
        let platform = Platform::builder().driver(driver)?;
        let none = Attempt { how: How::Succeeds, is_second: false, again: false };
        let shared = Arc::new(Mutex::new((none, false)));
        let (given, mut made) = (shared.clone(), None);
        let make = move |cx: &ExecutionContext, stream: &Stream<'_>, other: &Stream<'_>| {
            let made = match &mut made {
                Some(made) => made,
                none => none.insert(plan(cx, stream)?),
            };
            let mut given = given.lock().unwrap_or_else(PoisonError::into_inner);
            let (attempt, succeeded) = &mut *given;
            run(made, &mut Tick { cx, stream, other, attempt: *attempt, fails: &fails, succeeded })
        };
        let mut harness = OperatorHarness::new(&platform, Sends::new(Box::new(make)))?;
        // Whether the last call has succeeded, and the error of the tick.
        let mut tick = |how, is_second, again| {
            let set = |to| *shared.lock().unwrap_or_else(PoisonError::into_inner) = to;
            set((Attempt { how, is_second, again }, false));
            let done = harness.tick();
            harness.take(|ports| &mut ports.target);
            (shared.lock().unwrap_or_else(PoisonError::into_inner).1, done)
        };
        let mut all = vec![How::OtherStream, How::Refused];
        for kind in KINDS {
            for how in (0..).map(|nth| How::InDriver(kind, nth)) {
                let (succeeded, done) = tick(how, false, false);
                if succeeded {
                    done?;
                    break;
                }
                all.push(how);
            }
        }
        check(all.len() > 2, || format!("{} makes no call", self.name))?;
        for how in all.split_off(if self.is_plan { 0 } else { 2 }) {
            for is_second in [false, true] {
                let name = format!("{}, {how:?}, second: {is_second}", self.name);
                let (succeeded, done) = tick(how, is_second, false);
                check(!succeeded, || format!("{name} has not failed"))?;
                self.check_lost(&name, done)?;
                if how == How::Refused {
                    continue;
                }
                let (succeeded, done) = tick(how, is_second, true);
                check_equal((&name, succeeded), (&name, self.overwrites))?;
                if self.overwrites {
                    done.map_err(|error| Failed::msg(format!("{name}, again: {error}")))?;
                } else {
                    self.check_lost(&name, done)?;
                }
                // The plan can be used again.
                tick(How::Succeeds, is_second, false).1?;
            }
        }
        Ok(harness.stop()?)
    }

    /// A tick has failed since memory is not written.
    fn check_lost<T: std::fmt::Debug>(
        &self,
        name: &str,
        done: Result<T, Error>,
    ) -> Result<(), Failed> {
        let is_right = |error: &Error| matches!(error, Error::Operator { hook: "compute", .. });
        let text = check_error(name, done, is_right)?;
        check_text(&text, &["was to write is not written"])
    }
}

const NEEDED: Norm = Norm::ByLength;

fn sparse(cx: &ExecutionContext) -> Result<Csr<f32>> {
    Ok(Csr::upload(cx, [N, N], &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &[2.0; N])?)
}

const FUNCTIONS: &[Function] = &[
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
    writes("Matmul::execute", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Matmul::<f32>::plan(2, 3, N).on(cx, s)?),
            |plan, t| {
                let (a, b) = (t.zeros(&[2, t.len()])?, t.zeros(&[N, 3])?);
                let mut c = t.zeros(&[2, 3])?;
                t.calls(|s| plan.execute(s, &a, &b, &mut c))?;
                Ok(c)
            },
        )
    }),
    writes("Matmul::execute of views", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Matmul::<f32>::plan(2, 3, N).on(cx, s)?),
            |plan, t| {
                let (a, b) = (t.zeros(&[2, t.len()])?, t.zeros(&[N, 3])?);
                let mut c = t.zeros(&[2, 3])?;
                t.calls(|s| plan.execute(s, &a.view(), &b, &mut c.view_mut()))?;
                Ok(c)
            },
        )
    }),
    updates("Matmul::execute with beta", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Matmul::<f32>::plan(2, 3, N).beta(1.0).on(cx, s)?),
            |plan, t| {
                let (a, b) = (t.zeros(&[2, t.len()])?, t.zeros(&[N, 3])?);
                let mut c = t.zeros(&[2, 3])?;
                t.calls(|s| plan.execute(s, &a, &b, &mut c))?;
                Ok(c)
            },
        )
    }),
    updates("Matmul::execute of a part", |it, platform| {
        let plan = |cx: &_, s: &Stream<'_>| {
            Ok(Matmul::<f32>::plan(2, 3, N).leading_dimensions([N, 3, 5]).on(cx, s)?)
        };
        it.sends(platform, plan, |plan, t| {
            let (a, b) = (t.zeros(&[2, t.len()])?, t.zeros(&[N, 3])?);
            let mut c = t.zeros(&[2, 5])?;
            t.calls(|s| match c.view_mut().slice(1, 0..3) {
                Some(mut part) => plan.execute(s, &a, &b, &mut part),
                None => Ok(()),
            })?;
            Ok(c)
        })
    }),
    writes("Matmul::execute with a bias", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Matmul::<f32>::plan(2, 4, N).bias().on(cx, s)?),
            |plan, t| {
                let (a, b, bias) =
                    (t.zeros(&[2, N])?, t.zeros(&[N, 4])?, t.zeros::<f32>(&[t.len()])?);
                let mut c = t.zeros(&[2, 4])?;
                t.calls(|s| plan.execute(s, &a, &b, &bias, &mut c))?;
                Ok(c)
            },
        )
    }),
    updates("Blas::axpy", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Blas::<f32>::on(cx, s)?),
            |blas, t| {
                let (x, mut y) = (t.zeros::<f32>(&[t.len()])?, t.zeros(&[N])?);
                t.calls(|s| blas.axpy(s, 2.0, &x, &mut y))?;
                Ok(y)
            },
        )
    }),
    writes("Blas::dot", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Blas::<f32>::on(cx, s)?),
            |blas, t| {
                let (x, mut result) = (t.zeros::<f32>(&[t.len()])?, t.zeros(&[1])?);
                let y = t.zeros::<f32>(&[N])?;
                t.calls(|s| blas.dot(s, &x, &y, &mut result))?;
                Ok(result)
            },
        )
    }),
    writes("Blas::norm", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Blas::<f32>::on(cx, s)?),
            |blas, t| {
                let x = t.zeros::<f32>(&[N])?;
                let mut result = t.zeros(&[t.len() / N])?;
                t.calls(|s| blas.norm(s, &x, &mut result))?;
                Ok(result)
            },
        )
    }),
    writes("Blas::gemv", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Blas::<f32>::on(cx, s)?),
            |blas, t| {
                let (a, x, mut y) =
                    (t.zeros(&[3, N])?, t.zeros::<f32>(&[t.len()])?, t.zeros(&[3])?);
                t.calls(|s| blas.gemv(s, (1.0, &a, &x), (0.0, &mut y)))?;
                Ok(y)
            },
        )
    }),
    updates("Blas::gemv with beta", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Blas::<f32>::on(cx, s)?),
            |blas, t| {
                let (a, x, mut y) =
                    (t.zeros(&[3, N])?, t.zeros::<f32>(&[t.len()])?, t.zeros(&[3])?);
                t.calls(|s| blas.gemv(s, (1.0, &a, &x), (1.0, &mut y)))?;
                Ok(y)
            },
        )
    }),
    updates("Blas::trsm", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Blas::<f32>::on(cx, s)?),
            |blas, t| {
                let (a, mut b) = (t.zeros(&[t.len(), t.len()])?, t.zeros(&[N, 2])?);
                t.calls(|s| blas.trsm(s, (1.0, &a, Triangle::Lower), &mut b))?;
                Ok(b)
            },
        )
    }),
    updates("Blas::syrk", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Blas::<f32>::on(cx, s)?),
            |blas, t| {
                let (a, mut c) = (t.zeros(&[t.len(), 2])?, t.zeros(&[N, N])?);
                t.calls(|s| blas.syrk(s, (1.0, &a), (0.0, &mut c, Triangle::Upper)))?;
                Ok(c)
            },
        )
    }),
    writes("SpMv::execute", |it, platform| {
        let plan = |cx: &_, s: &Stream<'_>| {
            let a = sparse(cx)?;
            Ok((SpMv::plan(&a).on(cx, s)?, a))
        };
        it.sends(platform, plan, |(plan, a), t| {
            let (x, mut y) = (t.zeros(&[t.len()])?, t.zeros(&[N])?);
            t.calls(|s| plan.execute(s, a, &x, &mut y))?;
            Ok(y)
        })
    }),
    updates("SpMv::execute that accumulates", |it, platform| {
        let plan = |cx: &_, s: &Stream<'_>| {
            let a = sparse(cx)?;
            Ok((SpMv::plan(&a).accumulate().on(cx, s)?, a))
        };
        it.sends(platform, plan, |(plan, a), t| {
            let (x, mut y) = (t.zeros(&[t.len()])?, t.zeros(&[N])?);
            t.calls(|s| plan.execute(s, a, &x, &mut y))?;
            Ok(y)
        })
    }),
    writes("SpMm::execute", |it, platform| {
        let plan = |cx: &_, s: &Stream<'_>| {
            let a = sparse(cx)?;
            Ok((SpMm::plan(&a, 2).on(cx, s)?, a))
        };
        it.sends(platform, plan, |(plan, a), t| {
            let (b, mut c) = (t.zeros(&[t.len(), 2])?, t.zeros(&[N, 2])?);
            t.calls(|s| plan.execute(s, a, &b, &mut c))?;
            Ok(c)
        })
    }),
    writes("Lu::solve", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Lu::<f32>::plan(N).on(cx, s)?),
            |plan, t| {
                let (a, b) = (t.zeros(&[t.len(), t.len()])?, t.zeros(&[N])?);
                let mut x = t.checked(t.zeros(&[N])?)?;
                t.calls(|s| plan.solve(s, &a, &b, &mut x))?;
                Ok(x)
            },
        )
    }),
    writes("Lu::solve of a batch", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Lu::<f32>::plan(N).batch(2).on(cx, s)?),
            |plan, t| {
                let (a, b) = (t.zeros(&[2, N, N])?, t.zeros(&[2, t.len()])?);
                let mut x = Checked::of_batch(2, t.zeros(&[2, N])?, t.cx, t.stream)?;
                t.calls(|s| plan.solve(s, &a, &b, &mut x))?;
                Ok(x)
            },
        )
    }),
    writes("Cholesky::solve", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Cholesky::<f32>::plan(N).on(cx, s)?),
            |plan, t| {
                let (a, b) = (t.zeros(&[N, N])?, t.zeros(&[t.len()])?);
                let mut x = t.checked(t.zeros(&[N])?)?;
                t.calls(|s| plan.solve(s, &a, &b, &mut x))?;
                Ok(x)
            },
        )
    }),
    writes("Cholesky::solve of a batch", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Cholesky::<f32>::plan(N).batch(2).on(cx, s)?),
            |plan, t| {
                let (a, b) = (t.zeros(&[2, N, N])?, t.zeros(&[2, t.len()])?);
                let mut x = Checked::of_batch(2, t.zeros(&[2, N])?, t.cx, t.stream)?;
                t.calls(|s| plan.solve(s, &a, &b, &mut x))?;
                Ok(x)
            },
        )
    }),
    writes("Factored::solve", |it, platform| {
        let plan = |cx: &ExecutionContext, s: &Stream<'_>| {
            let mut a = cx.tensor([N, N], s)?;
            s.fill_bytes(&mut a, 0)?;
            Ok(Lu::<f32>::plan(N).on(cx, s)?.factor(s, &a)?)
        };
        it.sends(platform, plan, |plan, t| {
            let b = t.zeros(&[t.len()])?;
            let mut x = t.checked(t.zeros(&[N])?)?;
            t.calls(|s| plan.solve(s, &b, &mut x))?;
            Ok(x)
        })
    }),
    updates("Cholesky::factor_in_place", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Cholesky::<f32>::plan(N).on(cx, s)?),
            |plan, t| {
                let mut a = t.checked(t.zeros(&[t.len(), t.len()])?)?;
                t.calls(|s| plan.factor_in_place(s, &mut a))?;
                Ok(a)
            },
        )
    }),
    updates("Cholesky::factor_in_place of a batch", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Cholesky::<f32>::plan(N).batch(2).on(cx, s)?),
            |plan, t| {
                let mut a = Checked::of_batch(2, t.zeros(&[2, N, t.len()])?, t.cx, t.stream)?;
                t.calls(|s| plan.factor_in_place(s, &mut a))?;
                Ok(a)
            },
        )
    }),
    writes("Qr::execute", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Qr::<f32>::plan(N, 2).on(cx, s)?),
            |plan, t| {
                let (a, mut out) = (t.zeros(&[t.len(), 2])?, plan.result(t.cx, t.stream)?);
                t.calls(|s| plan.execute(s, &a, &mut out))?;
                Ok(out)
            },
        )
    }),
    writes("Svd::execute_blocking", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Svd::<f32>::plan(2, N).on(cx, s)?),
            |plan, t| {
                let (a, mut out) = (t.zeros(&[2, t.len()])?, plan.result(t.cx, t.stream)?);
                t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
                Ok(out)
            },
        )
    }),
    writes("Svd::execute_blocking, turned", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Svd::<f32>::plan(N, 2).on(cx, s)?),
            |plan, t| {
                let (a, mut out) = (t.zeros(&[t.len(), 2])?, plan.result(t.cx, t.stream)?);
                t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
                Ok(out)
            },
        )
    }),
    writes("Svd::execute_blocking of a batch", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Svd::<f32>::plan(2, N).batch(2).on(cx, s)?),
            |plan, t| {
                let (a, mut out) = (t.zeros(&[2, 2, t.len()])?, plan.result(t.cx, t.stream)?);
                t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
                Ok(out)
            },
        )
    }),
    writes("Eigen::execute_blocking", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Eigen::<f32>::plan(N).on(cx, s)?),
            |plan, t| {
                let (a, mut out) = (t.zeros(&[t.len(), t.len()])?, plan.result(t.cx, t.stream)?);
                t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
                Ok(out)
            },
        )
    }),
    writes("Eigen::execute_blocking of a batch", |it, platform| {
        it.sends(
            platform,
            |cx, s| Ok(Eigen::<f32>::plan(N).batch(2).on(cx, s)?),
            |plan, t| {
                let (a, mut out) = (t.zeros(&[2, N, t.len()])?, plan.result(t.cx, t.stream)?);
                t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
                Ok(out)
            },
        )
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

/// The tick fails at `emit`, whichever call of the driver has failed. After the same call again it fails only if that needs
/// what its target has.
fn sent(platform: &Platform) -> Result<(), Failed> {
    FUNCTIONS.iter().try_for_each(|function| (function.run)(function, platform))
}

/// Fails each upload that it is told to.
fn failing(platform: &Platform) -> Result<(Platform, Arc<FailNth>), Failed> {
    let driver = platform.driver().clone();
    let fails = Arc::new(FailNth::new(driver, CallKind::Copy, u64::MAX));
    Ok((Platform::builder().driver(fails.clone())?, fails))
}

fn is_unwritten(done: Result<(), Error>) -> Result<(), Failed> {
    check_error("memory", done, |error| matches!(error, Error::Unwritten { .. })).map(drop)
}

/// What a call reads is not written, or a part of its target that it leaves as it is. Its target is not written then.
fn operands(platform: &Platform) -> Result<(), Failed> {
    let (platform, fails) = failing(platform)?;
    in_tick(&platform, move |cx, s, _| {
        fn lost<T: Element>(
            (cx, s): (&ExecutionContext, &Stream<'_>),
            fails: &FailNth,
            shape: &[usize],
        ) -> Result<Tensor<T>> {
            let mut memory = cx.tensor(shape, s)?;
            let source = vec![T::default(); memory.len()];
            fails.fail_next();
            drop(s.upload_blocking(&source, &mut memory));
            Ok(memory)
        }
        let at = (cx, s);

        let mut inverse = InverseRealFft::<f32>::plan(N).on(cx, s)?;
        let (mut x, mut y) = (lost(at, &fails, &[N / 2 + 1])?, cx.tensor([N], s)?);
        is_unwritten(inverse.inverse(s, &mut x, &mut y))?;
        is_unwritten(s.download_blocking(&y).map(drop))?;

        let mut forward = RealFft::<f32>::plan(N).on(cx, s)?;
        let (x, mut y) = (lost(at, &fails, &[N])?, cx.tensor([N / 2 + 1], s)?);
        is_unwritten(forward.forward(s, &x, &mut y))?;
        is_unwritten(s.download_blocking(&y).map(drop))?;

        let mut solver = Lu::<f32>::plan(N).on(cx, s)?;
        let (a, b) = (lost(at, &fails, &[N, N])?, cx.upload(&[1.0; N])?);
        let mut x = Checked::new(cx.tensor([N], s)?, cx, s)?;
        is_unwritten(solver.solve(s, &a, &b, &mut x))?;
        is_unwritten(x.download(s).map(drop))?;

        // The product is written to a part of `c`, and to each second element of `y`.
        let plan = Matmul::<f32>::plan(2, 3, 1).leading_dimensions([1, 3, 5]);
        let mut plan = plan.on(cx, s)?;
        let (a, b) =
            (cx.upload(&[1.0; 2])?.reshape([2, 1])?, cx.upload(&[2.0; 3])?.reshape([1, 3])?);
        let mut c = lost(at, &fails, &[2, 5])?;
        let mut part = c.view_mut().slice(1, 0..3).ok_or_else(|| Failure::msg("no part"))?;
        is_unwritten(plan.execute(s, &a, &b, &mut part))?;

        let each_second = Layout::embedded([N]).stride(2);
        let mut spread = Fft::<f32>::plan(N).output(each_second).on(cx, s)?;
        let (x, mut y) = (cx.tensor([N], s)?, lost(at, &fails, &[2 * N])?);
        is_unwritten(spread.forward(s, &x, &mut y))
    })
}

/// A result is kept. The next call for it fails, so the one from before can't be taken for its own.
fn opened(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, s, _| {
        let mut solver = Lu::<f32>::plan(1).on(cx, s)?;
        let (a, b) = (cx.upload(&[2.0])?.reshape([1, 1])?, cx.upload(&[6.0])?);
        let wrong = cx.upload(&[6.0; 2])?;
        let mut kept = Checked::new(cx.tensor([1], s)?, cx, s)?;
        for _ in 0..2 {
            solver.solve(s, &a, &b, &mut kept)?;
            check_equal(kept.download(s)?.wait_blocking()?, &[3.0])?;
            drop(solver.solve(s, &a, &wrong, &mut kept));
            is_unwritten(kept.download(s).map(drop))?;
            is_unwritten(s.download_blocking(kept.on_device()).map(drop))?;
            is_unwritten(s.download_blocking(&kept.statuses()).map(drop))?;
        }
        let then = kept.then(Ok)?;
        is_unwritten(then.download(s).map(drop))?;
        is_unwritten(then.open_blocking(s).map(drop))
    })
}

/// The call of tick 1 fails, and the sum is as before.
fn returned(platform: &Platform) -> Result<(), Failed> {
    let mut kept = None;
    let make: Make<Tensor<f32>> = Box::new(move |cx, s, other| {
        let (plan, one, sum) = match &mut kept {
            Some(kept) => kept,
            none => {
                let (one, sum) = (cx.upload(&[1.0; N])?, cx.upload(&[0.0; N])?);
                none.insert((Blas::<f32>::on(cx, s)?, one, sum))
            }
        };
        let plan: &mut Plan<Blas<f32>> = plan;
        plan.axpy(if cx.tick() == 1 { other } else { s }, 1.0, one, sum)?;
        let mut sent = cx.tensor([N], s)?;
        s.copy(sum, &mut sent)?;
        Ok(sent)
    });
    let mut harness = OperatorHarness::new(platform, Sends::new(make))?;
    for wanted in [Some(1.0), None, Some(2.0)] {
        let done = harness.tick();
        check_equal(done.is_ok(), wanted.is_some())?;
        if let (Some(wanted), Some(sum)) = (wanted, harness.take(|ports| &mut ports.target)) {
            check_equal(harness.stream().download_blocking(&sum.message)?, vec![wanted; N])?;
        }
    }
    Ok(harness.stop()?)
}
