//! A function with calls of the driver that fail in turn, each in a tick that drops the error and sends the
//! target.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::Element;
use streamflow::message::Device;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::solve::Checked;
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, check, check_equal, check_error, check_text};

/// The number of elements in a dimension, and that of operands which fit no plan.
pub(super) const N: usize = 4;
const OTHER: usize = 8;

/// How the library call in a tick fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    /// The call does not fail.
    Succeeds,
    /// The call's stream is not that of the plan.
    OtherStream,
    /// The call is refused, since an operand does not fit.
    Refused,
    /// The given driver call inside of the library call fails.
    InDriver(CallKind, u64),
}

/// What is done in a tick.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    how: How,
    /// Whether an earlier call of the plan has succeeded in the tick.
    is_second: bool,
    /// The call is made again, and the error of that is returned.
    again: bool,
}

/// The kinds of calls that can fail.
const KINDS: [CallKind; 4] =
    [CallKind::CallLibrary, CallKind::Launch, CallKind::Copy, CallKind::Fill];

/// A tick of the operator.
pub(super) struct Tick<'t> {
    pub(super) cx: &'t ExecutionContext,
    pub(super) stream: &'t Stream<'t>,
    other: &'t Stream<'t>,
    attempt: Attempt,
    fails: &'t [Arc<FailNth>; 4],
    /// Whether the last call has succeeded.
    succeeded: &'t mut bool,
}

impl Tick<'_> {
    /// Returns the length of the operands that a call reads.
    pub(super) fn len(&self) -> usize {
        if self.attempt.how == How::Refused { OTHER } else { N }
    }

    pub(super) fn zeros<T: Element>(&self, shape: &[usize]) -> Result<Tensor<T>> {
        let mut zeros = self.cx.tensor(shape, self.stream)?;
        self.stream.fill_bytes(&mut zeros, 0)?;
        Ok(zeros)
    }

    pub(super) fn checked<V>(&self, value: V) -> Result<Checked<V>> {
        Ok(Checked::new(value, self.cx, self.stream)?)
    }

    /// Makes the library call in a tick, and drops its error.
    pub(super) fn calls(
        &mut self,
        mut call: impl FnMut(&Stream<'_>) -> Result<(), Error>,
    ) -> Result<()> {
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

pub(super) type Make<M> =
    Box<dyn FnMut(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<M> + Send + 'static>;

/// Sends the target of a call.
#[operator(streams(work, other, spare))]
pub(super) struct Sends<M: Message<Place = Device>> {
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

/// A library function in the table.
pub(super) struct Function {
    name: &'static str,
    /// Whether the function overwrites all of its target.
    overwrites: bool,
    /// Whether the function is one of a plan. Plans check the stream and the operands.
    is_plan: bool,
    pub(super) run: fn(&Function, &Platform) -> Result<(), Failed>,
}

/// A function that overwrites all of its target.
pub(super) const fn writes(
    name: &'static str,
    run: fn(&Function, &Platform) -> Result<(), Failed>,
) -> Function {
    Function { name, overwrites: true, is_plan: true, run }
}

/// A function that may read the content of its target.
pub(super) const fn updates(
    name: &'static str,
    run: fn(&Function, &Platform) -> Result<(), Failed>,
) -> Function {
    Function { name, overwrites: false, is_plan: true, run }
}

/// A function without a plan.
pub(super) const fn planless(function: Function) -> Function {
    Function { is_plan: false, ..function }
}

/// A function with a plan, or a handle, that is made of the context and a stream.
macro_rules! row {
    ($kind:ident, $name:literal, |$cx:ident, $stream:ident| $plan:expr, |$made:ident, $tick:ident| $run:block) => {
        $kind($name, |it, platform| {
            it.sends(platform, |$cx, $stream| Ok($plan?), |$made, $tick| $run)
        })
    };
}
pub(super) use row;

impl Function {
    /// Makes a plan once, and runs all attempts with it, each in a tick.
    pub(super) fn sends<P: Send + 'static, M: Message<Place = Device>>(
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
                // After the failure, the plan can be used again.
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
