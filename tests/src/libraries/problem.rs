//! The problems that a library is to solve, as sizes and input values.

use std::ffi::c_void;

use streamflow::memory::{Complex, bf16};

use crate::random::Random;

/// A list of numbers of one element type.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// `bf16` numbers: two bytes, with the range of single precision.
    Bf16(Vec<bf16>),
    /// Complex numbers of single precision.
    C64(Vec<Complex<f32>>),
    /// Indices of sparse matrices.
    I32(Vec<i32>),
}

/// Evaluates an expression with the vector of whichever variant the value has.
macro_rules! each {
    ($values:expr, $it:ident => $do:expr) => {
        match $values {
            Values::F32($it) => $do,
            Values::F64($it) => $do,
            Values::Bf16($it) => $do,
            Values::C64($it) => $do,
            Values::I32($it) => $do,
        }
    };
}

impl Values {
    /// Returns the address of the first number.
    pub fn as_ptr(&self) -> *const c_void {
        each!(self, it => it.as_ptr().cast())
    }

    /// Returns the address of the first number, to write the numbers.
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        each!(self, it => it.as_mut_ptr().cast())
    }

    /// Returns the numbers' size in bytes.
    pub fn bytes(&self) -> usize {
        each!(self, it => size_of_val(it.as_slice()))
    }

    /// Returns the numbers in double precision. A complex number becomes two.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Self::F32(it) => it.iter().map(|&x| x.into()).collect(),
            Self::F64(it) => it.clone(),
            Self::Bf16(it) => it.iter().map(|&x| x.into()).collect(),
            Self::C64(it) => it.iter().flat_map(|x| [x.re.into(), x.im.into()]).collect(),
            Self::I32(it) => it.iter().map(|&x| x.into()).collect(),
        }
    }

    /// Returns the largest difference between two lists of numbers, relative to the largest number. A NaN makes it
    /// infinite.
    pub fn difference(&self, others: &Self) -> f64 {
        let (a, b) = (self.numbers(), others.numbers());
        let largest = a.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        let off = off.map(|off| if off.is_nan() { f64::INFINITY } else { off }).fold(0.0, f64::max);
        if a.len() == b.len() { off / largest } else { f64::INFINITY }
    }
}

/// A problem that a library is to solve. A plan and the code by hand get the same problem.
#[derive(Debug)]
pub struct Problem {
    /// The name of the kind, which the code by hand also knows.
    pub kind: &'static str,
    /// The sizes. Their meaning depends on the kind.
    pub sizes: Vec<usize>,
    /// The values of the operands.
    pub inputs: Vec<Values>,
}

impl Problem {
    /// Makes a problem: a forward transform of complex numbers. Its sizes are the batch, then the dimensions.
    pub fn fft(batch: usize, dimensions: &[usize]) -> Self {
        let (mut random, elements) = (Random::new(1), batch * dimensions.iter().product::<usize>());
        let mut number = || Complex::new(random.signed(), random.signed());
        let input = (0..elements).map(|_| number()).collect();
        let sizes = [&[batch], dimensions].concat();
        Self { kind: "fft", sizes, inputs: vec![Values::C64(input)] }
    }

    /// Makes a problem: a batch of products of `m` x `k` and `k` x `n` matrices of `f32`. Its sizes are the bytes of an
    /// element, `m`, `n`, `k` and the batch.
    pub fn matmul(m: usize, n: usize, k: usize, batch: usize) -> Self {
        let mut random = Random::new(2);
        let (a, b) = (random.floats(batch * m * k), random.floats(batch * k * n));
        let inputs = vec![Values::F32(a), Values::F32(b)];
        Self { kind: "matmul", sizes: vec![4, m, n, k, batch], inputs }
    }

    /// Like [`matmul`](Self::matmul), for `bf16`: the sums are computed in `f32` and rounded to `bf16`.
    pub fn matmul_bf16(m: usize, n: usize, k: usize, batch: usize) -> Self {
        let mut random = Random::new(3);
        let mut some = |len: usize| (0..len).map(|_| bf16::from_f32(random.signed())).collect();
        let inputs = vec![Values::Bf16(some(batch * m * k)), Values::Bf16(some(batch * k * n))];
        Self { kind: "matmul", sizes: vec![2, m, n, k, batch], inputs }
    }

    /// Makes a problem: the product of a square sparse matrix of `f32` with a vector. Each row has `per_row` elements,
    /// one in each of `per_row` equal ranges of columns. Its sizes are rows, columns and elements. Its inputs are
    /// offsets, columns, values and the vector.
    pub fn spmv(rows: usize, per_row: usize) -> Self {
        let (mut random, stored) = (Random::new(4), rows * per_row);
        let range = rows / per_row;
        let offsets = (0..=rows).map(|row| (row * per_row) as i32).collect();
        let column = |at: usize| ((at % per_row) * range + random.below(range)) as i32;
        let columns = (0..stored).map(column).collect();
        let (values, x) = (random.floats(stored), random.floats(rows));
        let inputs =
            vec![Values::I32(offsets), Values::I32(columns), Values::F32(values), Values::F32(x)];
        Self { kind: "spmv", sizes: vec![rows, rows, stored], inputs }
    }

    /// Makes a problem: the Cholesky factor of a symmetric positive definite matrix of `f64`. Its size is the number of
    /// rows.
    pub fn cholesky(n: usize) -> Self {
        let random = Random::new(5).floats(n * n);
        let element = |at: usize| {
            let (row, column) = (at / n, at % n);
            let off = random[row.max(column) * n + row.min(column)];
            f64::from(off) + if row == column { 2.0 * n as f64 } else { 0.0 }
        };
        let inputs = vec![Values::F64((0..n * n).map(element).collect())];
        Self { kind: "cholesky", sizes: vec![n], inputs }
    }
}
