//! Kernels whose declared accesses can be made wrong, for one argument of one node, in every tick. In debug builds the
//! same is possible for the claims of each library call.
//!
//! The runtime gets the wrong declaration. For a kernel, the layer replaces it with the accesses that follow from the
//! parameters, so that a checker below sees the memory that the kernel touches. A library call reaches the layer with its
//! own claims.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use streamflow::__private::take_claims_by;
use streamflow::__private::{KernelInfo, ParamKind, Passing};
use streamflow::kernel::Kernel;
use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;
use streamflow_driver::driver::{Access, AccessMode, Launch, MemoryRange};

use super::Numbers;
use crate::kernels::{add_one, axpy, fill, slow_copy};

/// How a declaration is made wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Misdeclared {
    /// A write is declared as a read.
    AsRead,
    /// The access is not declared.
    LeftOut,
}

/// Names the declaration of one argument, and how it is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Declaration {
    /// The node that launches the kernel or makes the library call.
    pub node: Box<str>,
    /// The name of the kernel, or of the library's function.
    pub kernel: &'static str,
    /// The name of the argument.
    pub argument: &'static str,
    /// How the declaration is wrong.
    pub wrong: Misdeclared,
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, kernel, argument, wrong } = self;
        let wrong = match wrong {
            Misdeclared::AsRead => "declared as read",
            Misdeclared::LeftOut => "not declared",
        };
        write!(f, "{node}: `{argument}` of `{kernel}` {wrong}")
    }
}

/// The declarations in a run's launches, on all of its threads.
#[derive(Debug, Default)]
pub(super) struct OfRun {
    wrong: Option<Declaration>,
    seen: BTreeSet<Declaration>,
    numbers: Numbers,
}

/// For the calling thread: the run, and the node for which it launches kernels.
#[derive(Debug, Default)]
struct Current {
    node: Box<str>,
    of_run: Arc<Mutex<OfRun>>,
}

thread_local! {
    static CURRENT: RefCell<Current> = RefCell::default();
    static LEFT_OUT: Cell<Option<Claim>> = const { Cell::new(None) };
}

/// Calls `run` on this thread with one wrong declaration. The declaration is also wrong in launches by threads that enter
/// nodes of a
/// [`Mutate`](super::Mutate) that `run` makes. Returns the value of `run`, all declarations that could be made wrong, and
/// how often this one was.
pub fn declarations<T>(
    wrong: Option<&Declaration>,
    run: impl FnOnce() -> T,
) -> (T, BTreeSet<Declaration>, u64) {
    take_claims();
    let of_run = OfRun { wrong: wrong.cloned(), ..OfRun::default() };
    let of_run = Arc::new(Mutex::new(of_run));
    CURRENT.set(Current { of_run: of_run.clone(), ..Current::default() });
    let done = run();
    drop(CURRENT.take());
    let OfRun { seen, numbers, .. } = std::mem::take(&mut *lock(&of_run));
    (done, seen, numbers.dropped().len() as u64)
}

/// A claim, by the names of the library's function and of the argument.
pub type Claim = (&'static str, &'static str);

/// Leaves a claim out of each library call that this thread makes, from now on; `None` ends that. Returns whether the
/// build supports this: release builds have no claims that can be left out.
pub fn leave_claim_out(claim: Option<Claim>) -> bool {
    LEFT_OUT.set(claim);
    take_claims()
}

/// Lets [`claimed`] decide about each claim in the process from now on. Returns whether the build supports this.
fn take_claims() -> bool {
    // SAFETY: tests make claims wrong only on the simulator.
    unsafe { take_claims_by(claimed) }
}

/// Returns the declarations of the run that the calling thread is in.
pub(super) fn of_run() -> Arc<Mutex<OfRun>> {
    CURRENT.with_borrow(|current| current.of_run.clone())
}

/// Makes the declarations wrong that an earlier run has made wrong, by number.
pub(super) fn repeat(of_run: &Arc<Mutex<OfRun>>, dropped: Vec<u64>) {
    lock(of_run).numbers = Numbers::repeat(dropped);
}

/// Returns which declarations were wrong, by number.
pub(super) fn dropped(of_run: &Arc<Mutex<OfRun>>) -> Vec<u64> {
    lock(of_run).numbers.dropped().to_vec()
}

fn lock(of_run: &Mutex<OfRun>) -> MutexGuard<'_, OfRun> {
    of_run.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that the calling thread launches the kernels of this node from now on.
pub(super) fn enter(of_run: &Arc<Mutex<OfRun>>, node: &str) {
    CURRENT.set(Current { node: node.into(), of_run: of_run.clone() });
}

/// Returns how this launch must misdeclare the argument, or `None` if it must declare it correctly.
fn declared(kernel: &'static str, argument: &'static str, mode: AccessMode) -> Option<Misdeclared> {
    CURRENT.with_borrow(|current| {
        let of_run = &mut *lock(&current.of_run);
        let both = [Misdeclared::AsRead, Misdeclared::LeftOut];
        let can_be = if mode == AccessMode::Write { &both[..] } else { &both[1..] };
        let mut chosen = None;
        for &wrong in can_be {
            let declaration = Declaration { node: current.node.clone(), kernel, argument, wrong };
            let is_named = of_run.wrong.as_ref() == Some(&declaration);
            if of_run.numbers.drops(is_named) {
                chosen = Some(wrong);
            }
            of_run.seen.insert(declaration);
        }
        chosen
    })
}

/// Returns the access with which the runtime gets a claim of a library call, or `None` to leave the claim out.
fn claimed(function: &'static str, argument: &'static str, mode: AccessMode) -> Option<AccessMode> {
    if LEFT_OUT.get() == Some((function, argument)) {
        return None;
    }
    match declared(function, argument, mode) {
        None => Some(mode),
        Some(Misdeclared::AsRead) => Some(AccessMode::Read),
        Some(Misdeclared::LeftOut) => None,
    }
}

fn read<'a>(
    to: &mut Passing<'a>,
    info: &KernelInfo,
    argument: &'static str,
    slice: &'a DeviceSlice<f32>,
) {
    match declared(info.name, argument, AccessMode::Read) {
        Some(_) => leave_out(to, argument, slice),
        None => to.read(argument, slice),
    }
}

fn write<'a>(
    to: &mut Passing<'a>,
    info: &KernelInfo,
    argument: &'static str,
    slice: &'a mut DeviceSlice<f32>,
) {
    match declared(info.name, argument, AccessMode::Write) {
        Some(Misdeclared::LeftOut) => leave_out(to, argument, slice),
        Some(Misdeclared::AsRead) => to.read(argument, slice),
        None => to.write(argument, slice),
    }
}

/// Passes a slice's parameters without an access, by way of an empty slice: that has an address and touches nothing.
fn leave_out<'a>(to: &mut Passing<'a>, argument: &'static str, slice: &'a DeviceSlice<f32>) {
    if let Some(nothing) = slice.slice(..0) {
        // The empty slice must live as long as the arguments, so it is leaked. That is a few bytes per launch of a test.
        to.read_address(argument, Box::leak(Box::new(nothing)));
        to.scalar(slice.len() as u64);
    }
}

/// Defines kernels whose launches can declare wrong accesses.
macro_rules! declared {
    ($($name:ident = $kernel:ty, ($($arg:ident: $ty:ty = $pass:ident),*);)*) => {
        $(
            #[doc = concat!("`", stringify!($kernel), "`, with declarations that can be made wrong.")]
            #[derive(Debug)]
            pub enum $name {}

            // SAFETY: the parameters are those of the kernel, in their order. The declared accesses are wrong on purpose,
            // in tests on the simulator.
            unsafe impl Kernel for $name {
                type Args<'a> = ($($ty,)*);
                const INFO: &'static KernelInfo = <$kernel>::INFO;

                fn pass<'a>(($($arg,)*): Self::Args<'a>, to: &mut Passing<'a>) -> Result<(), Error> {
                    $(declared!(@$pass to, Self::INFO, $arg);)*
                    Ok(())
                }
            }
        )*

        const KERNELS: &[&KernelInfo] = &[$($name::INFO),*];
    };
    (@scalar $to:ident, $info:expr, $arg:ident) => { $to.scalar($arg) };
    (@$pass:ident $to:ident, $info:expr, $arg:ident) => {
        $pass($to, $info, stringify!($arg), $arg)
    };
}

declared! {
    Fill = fill, (out: &'a mut DeviceSlice<f32> = write, value: f32 = scalar);
    AddOne = add_one, (data: &'a mut DeviceSlice<f32> = write);
    SlowCopy = slow_copy, (
        out: &'a mut DeviceSlice<f32> = write,
        input: &'a DeviceSlice<f32> = read,
        cycles: u64 = scalar
    );
    Axpy = axpy<f32>, (
        out: &'a mut DeviceSlice<f32> = write,
        a: f32 = scalar,
        x: &'a DeviceSlice<f32> = read,
        y: &'a DeviceSlice<f32> = read
    );
}

/// Returns the accesses of a kernel of this file, computed from its parameters. For another kernel, returns the declared
/// accesses.
pub(super) fn actual_accesses(launch: &Launch<'_>) -> Vec<Access> {
    let Some(info) = KERNELS.iter().find(|info| info.name == launch.name) else {
        return launch.accesses.to_vec();
    };
    let mut params = launch.params.iter();
    let mut accesses = Vec::new();
    for param in info.params {
        let mode = match param.kind {
            ParamKind::Scalar => {
                params.next();
                continue;
            }
            ParamKind::Slice => AccessMode::Read,
            ParamKind::SliceMut => AccessMode::Write,
            // The kernels of this file take no views.
            _ => continue,
        };
        if let (Some(address), Some(len)) = (params.next(), params.next()) {
            let bytes = len.get::<u64>() * size_of::<f32>() as u64;
            let range = MemoryRange { address: address.get(), bytes };
            accesses.push(Access { range, mode, argument: param.name, rows: None });
        }
    }
    accesses
}
