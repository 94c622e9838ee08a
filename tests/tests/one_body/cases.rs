//! The cases of a kernel: its inputs, and what Rust's own operators make of them.
//!
//! Each run has millions of values, and this code is not optimized. So it has loops and no memory for one value.

use streamflow::__private::body::KernelArg;
use streamflow::__private::{KernelInfo, MapArgs, MapKernel};
use streamflow::memory::TensorView;
use streamflow::prelude::*;
use streamflow_tests::setup::uploaded;
use streamflow_tests::{Failed, check, check_error};

use super::errors;
use super::values::{Edge, Format};

/// The inputs that an operation is tried with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    /// Each edge of the type.
    One,
    /// All pairs of edges.
    Two,
    /// All pairs, where a second operand of 0 is reported, as a division or as an index.
    Divided,
    /// All triples of a few edges.
    Three,
    /// Those of which the second is not above the third.
    Limits,
}

/// An operation of a kernel, which has it in one arm of its `match`.
pub(super) struct Operation<S, O> {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) inputs: Inputs,
    /// The same in Rust's own words.
    pub(super) wanted: fn(&S, &S, &S) -> O,
}

/// One launch: an operation, its inputs and its results.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) number: u32,
    pub(super) count: usize,
    /// The bytes of the three operands.
    pub(super) inputs: [Vec<u8>; 3],
    wanted: Vec<u64>,
    /// Whether a division is reported.
    pub(super) reports: bool,
}

/// The memory of a launch, and so the kernel's code that runs.
#[derive(Debug, Clone, Copy)]
enum Memory {
    /// Elements that follow each other: the code for slices.
    Dense,
    /// Each operand is a transposed view of two equal columns, and each result is there twice: the code for strides.
    Strided,
}

/// The arguments of a launch.
type Views<'a, S, O> =
    (&'a mut Tensor<O>, TensorView<'a, S>, TensorView<'a, S>, TensorView<'a, S>, u32);

type Launch = Box<dyn Fn(&Platform, &CudaStream, &Case, Memory) -> Result<Vec<u64>, Failed>>;

/// A launch on these arguments with this number of the operation: the result has the shape `[columns, count]`, and each operand
/// `[count, columns]`.
type Pass<S, O> = fn(&CudaStream, &mut Tensor<O>, [&Tensor<S>; 3], u32) -> Result<()>;

/// A kernel with all of its cases.
pub(super) struct Subject {
    pub(super) info: &'static KernelInfo,
    format: Format,
    /// The bytes of a result.
    pub(super) size: usize,
    pub(super) cases: Vec<Case>,
    /// The parameters of a struct behind the number of the operation.
    pub(super) chunks: Vec<[u64; 2]>,
    launch: Launch,
}

fn inputs<S: Edge>(of: Inputs) -> Vec<[S; 3]> {
    let (edges, few) = (S::edges(), S::few());
    let one = edges[0];
    match of {
        Inputs::One => edges.iter().map(|a| [*a, one, one]).collect(),
        Inputs::Two | Inputs::Divided => {
            let mut pairs = Vec::with_capacity(edges.len() * edges.len());
            for a in &edges {
                for b in &edges {
                    pairs.push([*a, *b, one]);
                }
            }
            pairs
        }
        Inputs::Three | Inputs::Limits => {
            let pairs = few.iter().flat_map(|a| few.iter().map(move |b| (*a, *b)));
            let all = pairs.flat_map(|(a, b)| few.iter().map(move |c| [a, b, *c]));
            all.filter(|[_, b, c]| of == Inputs::Three || b <= c).collect()
        }
    }
}

/// The bytes of the operands at one place.
fn bytes<S: Edge>(rows: &[[S; 3]], at: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of::<S>() * rows.len());
    for row in rows {
        row[at].put(&mut bytes);
    }
    bytes
}

/// The numbers that have these bytes.
pub(super) fn bits(bytes: &[u8], size: usize) -> Vec<u64> {
    let bits = |bytes: &[u8]| {
        let mut all = [0; 8];
        all[..size].copy_from_slice(bytes);
        u64::from_le_bytes(all)
    };
    bytes.chunks_exact(size).map(bits).collect()
}

/// The cases of one operation: a division by 0 has a launch of its own.
fn cases<S: Edge, O: Edge>(operation: &Operation<S, O>) -> Vec<Case> {
    let all = inputs::<S>(operation.inputs);
    let is_reported = |[_, b, _]: &[S; 3]| {
        operation.inputs == Inputs::Divided && *b == S::default() && S::FORMAT == Format::Integer
    };
    let (faulty, sound): (Vec<_>, Vec<_>) = all.into_iter().partition(is_reported);
    let case = |rows: Vec<[S; 3]>, reports| Case {
        name: operation.name,
        number: operation.number,
        count: rows.len(),
        inputs: [0, 1, 2].map(|at| bytes(&rows, at)),
        wanted: rows.iter().map(|[a, b, c]| (operation.wanted)(a, b, c).bits()).collect(),
        reports,
    };
    let both = [(sound, false), (faulty, true)].into_iter().filter(|(rows, _)| !rows.is_empty());
    both.map(|(rows, reports)| case(rows, reports)).collect()
}

/// The values that have these bytes, each of them so many times.
fn values<T: Edge>(bytes: &[u8], columns: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(columns * (bytes.len() / size_of::<T>()));
    for bytes in bytes.chunks_exact(size_of::<T>()) {
        let value = T::of_bytes(bytes);
        for _ in 0..columns {
            values.push(value);
        }
    }
    values
}

fn launch<S: Edge, O: Edge>(
    platform: &Platform,
    stream: &CudaStream,
    case: &Case,
    memory: Memory,
    pass: Pass<S, O>,
) -> Result<Vec<u64>, Failed> {
    let columns = if matches!(memory, Memory::Dense) { 1 } else { 2 };
    let mut out = uploaded(platform, &vec![O::default(); columns * case.count], stream)?
        .reshape([columns, case.count])?;
    let operand = |bytes: &Vec<u8>| -> Result<Tensor<S>, Failed> {
        let rows: Vec<S> = values(bytes, columns);
        Ok(uploaded(platform, &rows, stream)?.reshape([case.count, columns])?)
    };
    let [a, b, c] = case.inputs.each_ref().map(operand);
    let (a, b, c) = (a?, b?, c?);
    pass(stream, &mut out, [&a, &b, &c], case.number)?;
    let done = stream.synchronize_blocking();
    if case.reports {
        check_error("a mistake", done, |error| {
            matches!(error, Error::DivisionByZero { .. } | Error::IndexOutOfRange { .. })
        })?;
    } else {
        done?;
    }
    let results = stream.download_blocking::<O>(&out)?;
    let (first, second) = results.split_at(case.count);
    let bits = |rows: &[O]| rows.iter().map(|row| row.bits()).collect::<Vec<_>>();
    let is_empty = second.is_empty();
    let (first, second) = (bits(first), bits(second));
    check(is_empty || first == second, || {
        format!("the columns of `{}` have other results", case.name)
    })?;
    Ok(first)
}

impl Subject {
    pub(super) fn of<K, S, O>(operations: &[Operation<S, O>]) -> Self
    where
        K: MapKernel,
        S: Edge,
        O: Edge,
        for<'a> Views<'a, S, O>: MapArgs<'a, K>,
    {
        Self::passed(K::LINEAR, operations, |stream, out, operands, number| {
            let [x, y, z] = operands.map(|operand| operand.view().transpose());
            Ok(stream.map::<K>((out, x, y, z, number))?)
        })
    }

    /// A kernel that is launched otherwise.
    pub(super) fn passed<S: Edge, O: Edge>(
        info: &'static KernelInfo,
        operations: &[Operation<S, O>],
        pass: Pass<S, O>,
    ) -> Self {
        Self {
            info,
            format: O::FORMAT,
            size: size_of::<O>(),
            cases: operations.iter().flat_map(cases).collect(),
            chunks: Vec::new(),
            launch: Box::new(move |platform, stream, case, memory| {
                launch(platform, stream, case, memory, pass)
            }),
        }
    }

    /// The same for a kernel that is launched with this struct.
    pub(super) fn with_struct<T: KernelArg>(self, value: T) -> Self {
        let mut bytes = vec![0; T::BYTES.next_multiple_of(16)];
        value.store(&mut bytes);
        let half =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
        let chunks = bytes.chunks(16).map(|chunk| [half(&chunk[..8]), half(&chunk[8..])]);
        Self { chunks: chunks.collect(), ..self }
    }

    /// Launches each case, and checks its results.
    pub(super) fn run(&self, platform: &Platform, stream: &CudaStream) -> Result<(), Failed> {
        let memory = [Memory::Dense, Memory::Strided];
        let all = self.cases.iter().flat_map(|case| memory.map(|memory| (case, memory)));
        all.into_iter().try_for_each(|(case, memory)| {
            let found = (self.launch)(platform, stream, case, memory);
            let found = found.map_err(|error| {
                Failed::msg(format!("{}, {memory:?}: {error}", self.title(case)))
            })?;
            self.check(case, &found)
        })
    }

    fn title(&self, case: &Case) -> String {
        format!("`{}` of `{}`", case.name, self.info.name)
    }

    /// Checks the bits of all results of a case.
    pub(super) fn check(&self, case: &Case, found: &[u64]) -> Result<(), Failed> {
        if found == case.wanted {
            return Ok(());
        }
        let ulps = errors::allowed(case.name, self.format);
        check(found.len() == case.count, || {
            format!("{}: {} results", self.title(case), found.len())
        })?;
        for (at, (found, wanted)) in found.iter().zip(&case.wanted).enumerate() {
            check(self.format.is_close(*found, *wanted, ulps), || {
                let size = case.inputs[0].len() / case.count;
                let inputs =
                    case.inputs.each_ref().map(|all| bits(&all[at * size..][..size], size)[0]);
                let (found, wanted) = (self.format.shown(*found), self.format.shown(*wanted));
                format!("{} with the bits {inputs:x?} is {found}, not {wanted}", self.title(case))
            })?;
        }
        Ok(())
    }
}
