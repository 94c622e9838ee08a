//! Times a product, on operands of its own, with one algorithm after another.

use super::plan::{CALL, Matmul, Settings};
use super::search::Search;
use crate::error::{Result, wrong_operand};
use crate::ffi::cublaslt::algorithm::{Algorithm, Chosen};
use crate::ffi::cublaslt::element::MatmulElement;
use crate::ffi::cublaslt::problem::{Problem, Stored};
use crate::ffi::cublaslt::{self, Rest};
use streamflow::Buffer;
use streamflow::Error;
use streamflow::driver::DriverError;
use streamflow::{ExecutionContext, Stream};

/// The number of times that each algorithm is timed. One run before them loads the algorithm's code.
const ROUNDS: usize = 5;
/// The number of products that are timed together, so that the time is long against the resolution of the clock.
const PRODUCTS: u32 = 10;
/// The value of every byte of the operands, which is a small positive number in each type. Products of zeros would need less
/// power, and so less time.
const BYTE: u8 = 0x3c;

/// The largest number of algorithms that a search may time. cuBLASLt has far fewer for one product.
const MOST: usize = 10_000;

/// Memory for the operands of a timed product.
struct Scratch<T: MatmulElement> {
    a: Buffer<T>,
    b: Buffer<T>,
    c: Buffer<T>,
    bias: Option<Buffer<T>>,
    work: Buffer<u8>,
}

/// Times a product with at most `most` algorithms.
pub(super) fn search<T: MatmulElement, E>(
    problem: Problem,
    settings: Settings<T::Scale>,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    most: usize,
) -> Result<Search> {
    if !(1..=MOST).contains(&most) {
        let problem = format!("is {most}, but a search times 1 to {MOST} algorithms");
        return Err(wrong_operand(CALL, "most", problem));
    }
    let limit = settings.workspace;
    let settings = Settings { algorithm: None, ..settings };
    let mut plan = Matmul::<T, E>::new(problem, settings, cx, stream)?;
    let candidates = match &plan.lt {
        Some(lt) => lt.candidates(&problem, limit, most)?.into_iter().map(Some).collect(),
        None => vec![None],
    };
    let bytes = candidates.iter().flatten().map(|it: &Chosen| it.workspace).max().unwrap_or(0);
    let mut scratch = Scratch::<T>::new(&problem, bytes.max(1) as usize, cx, stream)?;
    let mut timed: Vec<_> = candidates.iter().map(|it| (Algorithm(*it), Vec::new())).collect();
    let (mut refused, mut cause) = (vec![false; timed.len()], None);
    for round in 0..=ROUNDS {
        // Each round times every algorithm once, so that the clock of a warm GPU is the same for all of them.
        for (index, (algorithm, times)) in timed.iter_mut().enumerate() {
            if refused[index] {
                continue;
            }
            if let Some(chosen) = algorithm.0 {
                plan.set_algorithm(chosen);
            }
            let begin = stream.record_timing()?;
            let queued = (0..PRODUCTS).try_for_each(|_| scratch.multiply(&mut plan, stream));
            let time = begin.elapsed_blocking(&stream.record_timing()?)?;
            match queued {
                Ok(()) if round > 0 => times.push(time.over(PRODUCTS)),
                Ok(()) => {}
                // The library can't run this algorithm, so the search goes on without it. An error of the driver ends the search.
                Err(Error::Driver(error @ DriverError::Library(_))) => {
                    refused[index] = true;
                    times.clear();
                    tracing::debug!(%algorithm, %error, "cuBLASLt does not run an algorithm that it proposed");
                    cause = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
    }
    let found = Search::of(timed).ok_or_else(|| nothing_ran(cause))?;
    for candidate in found.candidates() {
        tracing::debug!(%candidate, "a product of matrices was timed");
    }
    Ok(found)
}

impl<T: MatmulElement> Scratch<T> {
    fn new(
        problem: &Problem,
        work: usize,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Self> {
        let filled = |elements: usize| -> Result<Buffer<T>> {
            let mut memory = cx.buffer(elements, stream)?;
            stream.fill_bytes(&mut memory, BYTE)?;
            Ok(memory)
        };
        let matrix = |stored: &Stored| filled(stored.span(problem.products()));
        Ok(Self {
            a: matrix(&problem.a)?,
            b: matrix(&problem.b)?,
            c: matrix(&problem.c)?,
            bias: problem.has_bias.then(|| filled(problem.n)).transpose()?,
            work: cx.buffer(work, stream)?,
        })
    }

    fn multiply<E>(&mut self, plan: &mut Matmul<T, E>, stream: &Stream<'_>) -> Result<()> {
        if plan.problem.is_empty() {
            return Ok(());
        }
        let Self { a, b, c, bias, work } = self;
        // `beta` is 0, so `c` is not read, and its values do not grow from product to product.
        let (alpha, beta) = (plan.alpha, T::ZERO);
        let rest = Rest { bias: bias.as_deref(), work, alpha, beta };
        cublaslt::multiply_whole(plan.lt.as_mut(), &plan.body, stream, [a, b], c, rest)
    }
}

#[cold]
fn nothing_ran(cause: Option<DriverError>) -> Error {
    let cause = cause.map_or("it proposed none".to_owned(), |error| error.to_string());
    let what =
        format!("cuBLASLt runs none of the algorithms that it proposed for a product ({cause})");
    let remedy = "search more of them, or change sizes, leading dimensions or precision".to_owned();
    DriverError::Unavailable { what, remedy }.into()
}
