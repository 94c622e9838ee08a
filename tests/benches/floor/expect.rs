//! The results that the host computes, and the comparison of a form's results with them.

use streamflow::prelude::*;
use streamflow_tests::floor::TaskGraph;

use crate::graphs::step;
use crate::kernels::Kernels;
use crate::operators::start;
use crate::workloads::Work;

/// The results that the last tick of a workload must have.
pub(crate) enum Expected {
    /// For the image workload: a few rows with their sums of squares, for a tick in which the first pixel is `exp(0)`.
    Seed {
        rows: usize,
        sums: Vec<(usize, f64)>,
    },
    Tasks {
        graph: TaskGraph,
        has_kernels: bool,
    },
}

/// The relative tolerance of sums: larger than their rounding error, and much smaller than the difference between two
/// ticks.
const TOLERANCE: f64 = 1e-3;

impl Expected {
    pub(crate) fn new(work: &Work) -> Self {
        match work {
            Work::Tasks { graph, kernels: Kernels::One, .. } => {
                Self::Tasks { graph: graph.of_first_reads(), has_kernels: true }
            }
            Work::Tasks { graph, kernels, .. } => {
                Self::Tasks { graph: graph.clone(), has_kernels: kernels.any() }
            }
            Work::Seed(shape) => {
                let ([rows, cols], step) = (*shape, f64::from(step(*shape)));
                let sum = |row: usize| -> f64 {
                    (row * cols..(row + 1) * cols).map(|i| (2.0 * step * i as f64).exp()).sum()
                };
                let sums = [0, rows / 2, rows - 1].map(|row| (row, sum(row))).to_vec();
                Self::Seed { rows, sums }
            }
        }
    }

    /// Returns how many results a tick has, and how many 32-bit words each result has.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Seed { rows, .. } => (1, *rows),
            Self::Tasks { graph, .. } => (graph.results.len(), streamflow_tests::floor::ELEMENTS),
        }
    }

    /// Compares the results' bits with those expected in the tick `number`.
    pub(crate) fn check(&self, form: &str, number: u32, results: &[Vec<u32>]) -> Result<()> {
        if self.is_right(number, results) {
            return Ok(());
        }
        let first = results.first().map(|words| &words[..words.len().min(4)]);
        Err(Failure::msg(format!(
            "`{form}` has wrong results in tick {number} (the first begins with the bits {first:?}); its times are worth \
             nothing"
        )))
    }

    /// Whether the results are those of the tick `number`.
    pub(crate) fn is_right(&self, number: u32, results: &[Vec<u32>]) -> bool {
        match self {
            Self::Seed { rows, sums } => {
                let [found] = results else { return false };
                let more = (2.0 * f64::from(start(number))).exp();
                found.len() == *rows
                    && sums.iter().all(|(row, sum)| {
                        let found = f64::from(f32::from_bits(found[*row]));
                        (found / (sum * more) - 1.0).abs() < TOLERANCE
                    })
            }
            Self::Tasks { has_kernels: false, .. } => results.is_empty(),
            Self::Tasks { graph, .. } => {
                let expected = graph.expected(number);
                results.len() == expected.len()
                    && results.iter().zip(&expected).all(|(found, it)| found[..] == it[..])
            }
        }
    }
}
