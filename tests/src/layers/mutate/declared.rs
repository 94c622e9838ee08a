//! Kernels whose declared accesses can be made wrong: of one argument of one node, in every tick.
//!
//! The runtime is told what is declared. What crosses the seam is put right by the layer, from the
//! parameters: a checker below sees what the kernel really touches.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use streamflow::driver::{Access, AccessMode, Launch, MemoryRange};
use streamflow::kernel::{Kernel, KernelInfo, ParamKind, Passing};
use streamflow::prelude::*;

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
    /// The node that launches.
    pub node: Box<str>,
    /// The kernel.
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

/// What the calling thread's launches declare.
#[derive(Debug, Default)]
struct Now {
    node: Box<str>,
    wrong: Option<Declaration>,
    seen: BTreeSet<Declaration>,
    times: u64,
}

thread_local! {
    static NOW: RefCell<Now> = RefCell::default();
}

/// Runs something on this thread with one declaration wrong. Also: all that could have been, and how
/// often this one was.
pub fn declarations<T>(
    wrong: Option<&Declaration>,
    run: impl FnOnce() -> T,
) -> (T, BTreeSet<Declaration>, u64) {
    let wrong = wrong.cloned();
    NOW.set(Now { wrong, ..Now::default() });
    let done = run();
    let Now { seen, times, .. } = NOW.take();
    (done, seen, times)
}

pub(super) fn enter(node: &str) {
    NOW.with_borrow_mut(|now| now.node = node.into());
}

/// How the argument is declared now.
fn declared(kernel: &'static str, argument: &'static str, mode: AccessMode) -> Option<Misdeclared> {
    NOW.with_borrow_mut(|now| {
        let both = [Misdeclared::AsRead, Misdeclared::LeftOut];
        let can_be = if mode == AccessMode::Write { &both[..] } else { &both[1..] };
        let mut chosen = None;
        for &wrong in can_be {
            let declaration = Declaration { node: now.node.clone(), kernel, argument, wrong };
            if now.wrong.as_ref() == Some(&declaration) {
                chosen = Some(wrong);
                now.times += 1;
            }
            now.seen.insert(declaration);
        }
        chosen
    })
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
        // It must live as long as the arguments do; some bytes for each such launch of a test.
        to.read_address(argument, Box::leak(Box::new(nothing)));
        to.scalar(slice.len() as u64);
    }
}

/// Defines kernels that are launched as others are, and declare what is asked for.
macro_rules! declared {
    ($($name:ident = $kernel:ty, ($($arg:ident: $ty:ty = $pass:ident),*);)*) => {
        $(
            #[doc = concat!("`", stringify!($kernel), "`, with declarations that can be made wrong.")]
            #[derive(Debug)]
            pub enum $name {}

            // SAFETY: the parameters are those of the kernel, in their order; it is the declared accesses
            // that are wrong, on purpose, in tests on the simulator.
            unsafe impl Kernel for $name {
                type Args<'a> = ($($ty,)*);
                const INFO: &'static KernelInfo = <$kernel>::INFO;

                fn pass<'a>(($($arg,)*): Self::Args<'a>, to: &mut Passing<'a>) -> Result<()> {
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

/// What a kernel of this file touches, by its parameters; of others, what is declared.
pub(super) fn truth(launch: &Launch<'_>) -> Vec<Access> {
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
        };
        if let (Some(address), Some(len)) = (params.next(), params.next()) {
            let bytes = len.get::<u64>() * size_of::<f32>() as u64;
            let range = MemoryRange { address: address.get(), bytes };
            accesses.push(Access { range, mode, argument: param.name });
        }
    }
    accesses
}
