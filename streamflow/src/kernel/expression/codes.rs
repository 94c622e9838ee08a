//! The codes of an expression: its kernel for arguments without gaps, for dense rows, and for any strides.

use std::ptr::NonNull;

use super::operand::{Form, Memory};
use crate::driver::HostArgs;
use crate::kernel::body::{
    CudaText, Faults, KernelArg, RANK, Types, any, elements_at_a_time, per_thread, places,
    places_of_line,
};
use crate::kernel::map::{Codes, MOST_OPERANDS};
use crate::kernel::places::SHAPE;
use crate::kernel::registered::no_host_body;
use crate::kernel::{Axes, Coverage, CudaBody, KernelInfo, ParamInfo, ParamKind};
use crate::memory::Element;

/// The facts of an expression that its macro knows.
///
/// # Safety
/// The texts are those of the closures beside it.
pub unsafe trait Place {
    /// The expression, as it is written.
    const NAME: &'static str;
    /// The file with the expression.
    const FILE: &'static str;
    /// The line of the expression, from 1.
    const LINE: u32;
    /// The operands, as they are written.
    const NAMES: &'static [&'static str];
    /// The body in CUDA, in the loops of the three codes.
    const TEXTS: [&'static str; 3];
    /// Whether the body may report a mistake.
    const REPORTS: bool;
    /// Whether a thread has several elements at a time.
    const IS_SHORT: bool;
}

/// The forms of all operands of an expression, a tuple, with the closures of the expression at a place.
pub trait Forms<P, O, F, G> {
    /// The parts of the description that all codes have.
    const INFO: KernelInfo;
    /// The codes of the kernel.
    const CODES: Codes;

    /// The text of a code in CUDA.
    fn text<const CODE: usize>() -> String;

    /// The body of a code on the simulator.
    ///
    /// # Safety
    /// The parameters are those of the code, and the memory is allocated and not otherwise used.
    unsafe fn host<const CODE: usize>(args: HostArgs<'_>);
}

/// The numbers of the codes, in the order of [`Place::TEXTS`].
const LINEAR: usize = 0;
const FLAT: usize = 1;
const STRIDED: usize = 2;

/// The names of the operands in CUDA: as memory, and as the parameter of a number.
const NAMES: [[&str; 2]; 6] = [
    ["x0", "x0_value"],
    ["x1", "x1_value"],
    ["x2", "x2_value"],
    ["x3", "x3_value"],
    ["x4", "x4_value"],
    ["x5", "x5_value"],
];

/// The names of their types in CUDA.
const TYPES: [&str; 6] = ["X0", "X1", "X2", "X3", "X4", "X5"];

/// The closure of a type without bytes.
fn closure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "the closures of an expression capture nothing") };
    // SAFETY: the type has no bytes. A value of it exists: an expression was made with one, and it is `Copy`.
    unsafe { NonNull::<F>::dangling().read() }
}

const fn param<A: Form>(number: usize, code: usize) -> ParamInfo {
    let [memory, value] = NAMES[number];
    let name = if A::IS_MEMORY { memory } else { value };
    let kind = if code == LINEAR { A::KINDS[0] } else { A::KINDS[1] };
    ParamInfo { name, cuda: A::CUDA, kind }
}

const fn out<O: Element>(code: usize) -> ParamInfo {
    let kind = if code == LINEAR { ParamKind::SliceMut } else { ParamKind::ElementsMut };
    ParamInfo { name: "out", cuda: O::ELEMENT_CUDA, kind }
}

/// The beginning of a kernel's text: numbers are indexed as memory is.
fn begin<A: Form>(number: usize) -> String {
    if A::IS_MEMORY {
        return String::new();
    }
    let [memory, value] = NAMES[number];
    let strides = [0, 1, 2, 3].map(|dim| format!("streamflow_{memory}_stride{dim} = 0"));
    format!(
        "const sf::Same<{}> {memory} = {{{value}}}; const unsigned long long {};\n",
        A::CUDA,
        strides.join(", ")
    )
}

/// Implements the trait for a tuple.
macro_rules! forms {
    ($($A:ident $found:ident $number:tt),*) => {
        impl<P, O, F, G, $($A),*> Forms<P, O, F, G> for ($($A,)*)
        where
            P: Place,
            O: KernelArg + Element,
            $($A: Form,)*
            F: Fn(usize, $(&$A::Value),*) -> O + Copy,
            G: Fn(&mut CudaText<'_>, $(fn() -> &'static $A::Value),*) + Copy,
        {
            const INFO: KernelInfo = KernelInfo {
                name: P::NAME,
                entry: "expression_kernel",
                file: P::FILE,
                line: P::LINE,
                cuda: CudaBody::Text(""),
                params: &[],
                generics: &[$((TYPES[$number], $A::CUDA)),*],
                threads: None,
                coverage: Coverage::GridStride,
                axes: Axes::UNKNOWN,
                reports: P::REPORTS,
                host: no_host_body,
            };

            const CODES: Codes = {
                const { assert!((0 $(+ $A::IS_MEMORY as usize)*) < MOST_OPERANDS, "an expression has at most 4 operands in memory: evaluate a part of it first") };
                let infos = [
                    &KernelInfo {
                        params: &[out::<O>(LINEAR), $(param::<$A>($number, LINEAR)),*],
                        cuda: CudaBody::Made(<Self as Forms<P, O, F, G>>::text::<LINEAR>),
                        host: <Self as Forms<P, O, F, G>>::host::<LINEAR>,
                        ..<Self as Forms<P, O, F, G>>::INFO
                    },
                    &KernelInfo {
                        params: &[SHAPE, out::<O>(FLAT), $(param::<$A>($number, FLAT)),*],
                        cuda: CudaBody::Made(<Self as Forms<P, O, F, G>>::text::<FLAT>),
                        host: <Self as Forms<P, O, F, G>>::host::<FLAT>,
                        ..<Self as Forms<P, O, F, G>>::INFO
                    },
                    &KernelInfo {
                        params: &[SHAPE, out::<O>(STRIDED), $(param::<$A>($number, STRIDED)),*],
                        cuda: CudaBody::Made(<Self as Forms<P, O, F, G>>::text::<STRIDED>),
                        host: <Self as Forms<P, O, F, G>>::host::<STRIDED>,
                        ..<Self as Forms<P, O, F, G>>::INFO
                    },
                ];
                Codes { infos, per_thread: elements_at_a_time(P::IS_SHORT), tiles: None }
            };

            fn text<const CODE: usize>() -> String {
                let begin: [String; _] =
                    [per_thread(elements_at_a_time(P::IS_SHORT)), $(begin::<$A>($number)),*];
                begin.concat() + &Types::with(|types| {
                    let mut to = CudaText::new(types);
                    closure::<G>()(&mut to, $(any::<&'static $A::Value> as fn() -> &'static $A::Value),*);
                    to.finish(P::TEXTS[CODE])
                })
            }

            unsafe fn host<const CODE: usize>(args: HostArgs<'_>) {
                let is_linear = CODE == LINEAR;
                let (to, index) = Memory::<O>::find(&args, if is_linear { 0 } else { RANK }, is_linear);
                $(let ($found, index) = $A::find(&args, index, is_linear);)*
                // SAFETY: the parameter after those of the operands is the report of a kernel that has one.
                let _faults = P::REPORTS.then(|| unsafe { Faults::of(&args, index, <Self as Forms<P, O, F, G>>::CODES.infos[CODE]) });
                let element = closure::<F>();
                let each = |number: usize, at: [usize; RANK]| {
                    // SAFETY: the coordinates are those of the launch's elements, as the caller vouches for its memory.
                    unsafe {
                        let value = element(number, $($A::at(&$found, at)),*);
                        *to.at(at) = value;
                    }
                };
                if is_linear {
                    places_of_line(&args).enumerate().for_each(|(number, at)| each(number, at));
                } else {
                    places(&args, CODE == FLAT).enumerate().for_each(|(number, at)| each(number, at));
                }
            }
        }
    };
}

forms!();
forms!(A a 0);
forms!(A a 0, B b 1);
forms!(A a 0, B b 1, C c 2);
forms!(A a 0, B b 1, C c 2, D d 3);
forms!(A a 0, B b 1, C c 2, D d 3, E e 4);
forms!(A a 0, B b 1, C c 2, D d 3, E e 4, H h 5);
