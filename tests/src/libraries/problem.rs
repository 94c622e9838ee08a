//! The problems that a library is to solve, without the library.

use std::ffi::c_void;

use streamflow::memory::{Complex, bf16};

use crate::random::Random;

/// Elements of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Half a single, with its range.
    Bf16(Vec<bf16>),
    /// Complex numbers of single precision.
    C64(Vec<Complex<f32>>),
    /// Indices.
    I32(Vec<i32>),
}

/// Runs an expression with the vector of each variant.
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
    /// Where they begin.
    pub fn as_ptr(&self) -> *const c_void {
        each!(self, it => it.as_ptr().cast())
    }

    /// Where they begin, to write them.
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        each!(self, it => it.as_mut_ptr().cast())
    }

    /// Their size in memory.
    pub fn bytes(&self) -> usize {
        each!(self, it => size_of_val(it.as_slice()))
    }

    /// As numbers of double precision. A complex number is two.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Self::F32(it) => it.iter().map(|&x| x.into()).collect(),
            Self::F64(it) => it.clone(),
            Self::Bf16(it) => it.iter().map(|&x| x.into()).collect(),
            Self::C64(it) => it.iter().flat_map(|x| [x.re.into(), x.im.into()]).collect(),
            Self::I32(it) => it.iter().map(|&x| x.into()).collect(),
        }
    }

    /// The largest difference from others, over the largest number. A NaN makes it infinite.
    pub fn difference(&self, others: &Self) -> f64 {
        let (a, b) = (self.numbers(), others.numbers());
        let largest = a.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        let off = off.map(|off| if off.is_nan() { f64::INFINITY } else { off }).fold(0.0, f64::max);
        if a.len() == b.len() { off / largest } else { f64::INFINITY }
    }
}

/// The problem that a library is to solve: the same for a plan and for the code by hand.
#[derive(Debug)]
pub struct Problem {
    /// The library's function, in the words of the code by hand.
    pub kind: &'static str,
    /// Their meaning depends on the kind.
    pub sizes: Vec<usize>,
    /// The operands.
    pub inputs: Vec<Values>,
}

impl Problem {
    /// A forward transform of complex numbers. Sizes: the batch, then the dimensions.
    pub fn fft(batch: usize, dimensions: &[usize]) -> Self {
        let (mut random, elements) = (Random::new(1), batch * dimensions.iter().product::<usize>());
        let mut number = || Complex::new(random.signed(), random.signed());
        let input = (0..elements).map(|_| number()).collect();
        let sizes = [&[batch], dimensions].concat();
        Self { kind: "fft", sizes, inputs: vec![Values::C64(input)] }
    }

    /// A batch of products of `m` x `k` and `k` x `n` matrices of `f32`. Sizes: the bytes of an element, `m`, `n`, `k`,
    /// the batch.
    pub fn matmul(m: usize, n: usize, k: usize, batch: usize) -> Self {
        let mut random = Random::new(2);
        let (a, b) = (random.floats(batch * m * k), random.floats(batch * k * n));
        let inputs = vec![Values::F32(a), Values::F32(b)];
        Self { kind: "matmul", sizes: vec![4, m, n, k, batch], inputs }
    }

    /// As [`matmul`](Self::matmul), of `bf16`: sums of `f32` are rounded to `bf16`.
    pub fn matmul_bf16(m: usize, n: usize, k: usize, batch: usize) -> Self {
        let mut random = Random::new(3);
        let mut some = |len: usize| (0..len).map(|_| bf16::from_f32(random.signed())).collect();
        let inputs = vec![Values::Bf16(some(batch * m * k)), Values::Bf16(some(batch * k * n))];
        Self { kind: "matmul", sizes: vec![2, m, n, k, batch], inputs }
    }

    /// The product of a square sparse matrix of `f32` with a vector: each row has as many elements, one in each of as many
    /// equal ranges of columns. Sizes: rows, columns, elements. Inputs: offsets, columns, values, the vector.
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

    /// The factor of a symmetric positive definite matrix of `f64`. Sizes: its rows.
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
