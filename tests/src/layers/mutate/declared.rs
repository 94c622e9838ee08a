//! Kernels with declared accesses that can be made wrong, for one argument of one node, in every tick; and the same for
//! the claims of each call of a library, in debug builds.
//!
//! The runtime gets the wrong declaration. For a kernel, the layer replaces it with the accesses that follow from the
//! parameters, so that a checker below sees the memory that the kernel touches. A call reaches the layer with its own
//! claims.

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

/// The declaration of one argument.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Declaration {
    /// The node that launches the kernel, or makes the call.
    pub node: Box<str>,
    /// The kernel, or the library's function.
    pub kernel: &'static str,
    /// The argument.
    pub argument: &'static str,
    /// How it is wrong.
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

/// The declarations of a run's launches, by all of its threads.
#[derive(Debug, Default)]
pub(super) struct OfRun {
    wrong: Option<Declaration>,
    seen: BTreeSet<Declaration>,
    numbers: Numbers,
}

/// The run and the node that the calling thread launches kernels for.
#[derive(Debug, Default)]
struct Current {
    node: Box<str>,
    of_run: Arc<Mutex<OfRun>>,
}

thread_local! {
    static CURRENT: RefCell<Current> = RefCell::default();
    static LEFT_OUT: Cell<Option<Claim>> = const { Cell::new(None) };
}

/// Calls `run` on this thread with one wrong declaration, also of launches by the threads that enter nodes of a
/// [`Mutate`](super::Mutate) that `run` makes. Returns its value, all declarations that could be wrong, and how often this
/// one was.
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

/// The function and the argument of a claim.
pub type Claim = (&'static str, &'static str);

/// Leaves a claim out of each call that this thread makes, from now on; `None` ends that. Returns whether the build can: release
/// builds have no claims that can be left out.
pub fn leave_claim_out(claim: Option<Claim>) -> bool {
    LEFT_OUT.set(claim);
    take_claims()
}

/// From now on, [`claimed`] decides about each claim of the process.
fn take_claims() -> bool {
    // SAFETY: tests make claims wrong on the simulator alone.
    unsafe { take_claims_by(claimed) }
}

/// The declarations of the run that the calling thread is in.
pub(super) fn of_run() -> Arc<Mutex<OfRun>> {
    CURRENT.with_borrow(|current| current.of_run.clone())
}

/// The declarations that are wrong are those of an earlier run.
pub(super) fn repeat(of_run: &Arc<Mutex<OfRun>>, dropped: Vec<u64>) {
    lock(of_run).numbers = Numbers::repeat(dropped);
}

/// The declarations that were wrong, by number.
pub(super) fn dropped(of_run: &Arc<Mutex<OfRun>>) -> Vec<u64> {
    lock(of_run).numbers.dropped().to_vec()
}

fn lock(of_run: &Mutex<OfRun>) -> MutexGuard<'_, OfRun> {
    of_run.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calling thread launches the kernels of a node from now on.
pub(super) fn enter(of_run: &Arc<Mutex<OfRun>>, node: &str) {
    CURRENT.set(Current { node: node.into(), of_run: of_run.clone() });
}

/// How this launch misdeclares the argument, or `None` if the declaration is right.
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

/// How the runtime takes a claim of a call.
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

/// Passes the parameters of a slice and no access: an empty slice has an address, and touches nothing.
fn leave_out<'a>(to: &mut Passing<'a>, argument: &'static str, slice: &'a DeviceSlice<f32>) {
    if let Some(nothing) = slice.slice(..0) {
        // The slice must live as long as the arguments. The leak is a few bytes per launch of a test.
        to.read_address(argument, Box::leak(Box::new(nothing)));
        to.scalar(slice.len() as u64);
    }
}

/// Defines kernels with launches that can declare wrong accesses.
macro_rules! declared {
    ($($name:ident = $kernel:ty, ($($arg:ident: $ty:ty = $pass:ident),*);)*) => {
        $(
            #[doc = concat!("`", stringify!($kernel), "`, with declarations that can be made wrong.")]
            #[derive(Debug)]
            pub enum $name {}

            // SAFETY: the parameters are those of the kernel, in their order. The declared accesses are wrong on
            // purpose, in tests on the simulator.
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

/// The accesses of a kernel of this file, computed from its parameters. For another kernel, the declared accesses.
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
            // No kernel of this file has views.
            ParamKind::View(_) | ParamKind::ViewMut(_) => continue,
        };
        if let (Some(address), Some(len)) = (params.next(), params.next()) {
            let bytes = len.get::<u64>() * size_of::<f32>() as u64;
            let range = MemoryRange { address: address.get(), bytes };
            accesses.push(Access { range, mode, argument: param.name, rows: None });
        }
    }
    accesses
}
