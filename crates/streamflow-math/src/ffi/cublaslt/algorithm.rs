//! Algorithms of cuBLASLt as data that can be printed and stored.

use std::fmt;
use std::str::FromStr;

/// The algorithm that a plan was made with. An algorithm's text can be stored, and be parsed in another run:
///
/// ```
/// use streamflow_math::matmul::Algorithm;
///
/// let stored = "cublaslt=130100 id=66 tile=20 stages=35 splits=1 workspace=0 alignment=256 data=42,14,23,0,0,0,0,0";
/// let algorithm: Algorithm = stored.parse().unwrap();
/// assert_eq!(algorithm.to_string(), stored);
/// assert_eq!(algorithm.workspace(), 0);
/// ```
///
/// An algorithm is for one version of cuBLASLt, one model of GPU, one product, and operands that are aligned at least as
/// well. A plan checks these when it [gets the algorithm back](crate::matmul::Planner::algorithm). On the simulator the
/// text is `simulator`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm(pub(crate) Option<Chosen>);

/// An algorithm of cuBLASLt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// cuBLASLt's own version number.
    pub(crate) version: u64,
    /// The algorithm's number, for people who read the text: the library itself takes `data`.
    pub(crate) id: u32,
    pub(crate) tile: u32,
    pub(crate) stages: u32,
    pub(crate) splits: u32,
    /// Bytes of the work area.
    pub(crate) workspace: u64,
    /// The alignment that the address of each matrix must have.
    pub(crate) alignment: u64,
    /// The algorithm, cuBLASLt's opaque struct `cublasLtMatmulAlgo_t`.
    pub(crate) data: [u64; 8],
}

impl Chosen {
    /// The value before an algorithm is chosen.
    pub(crate) const NOTHING: Self = Self {
        version: 0,
        id: 0,
        tile: 0,
        stages: 0,
        splits: 0,
        workspace: 0,
        alignment: 1,
        data: [0; 8],
    };
}

impl Algorithm {
    /// The algorithm of the simulator.
    pub(crate) const SIMULATOR: Self = Self(None);

    /// The bytes of work area that the algorithm needs.
    pub fn workspace(&self) -> u64 {
        self.0.map_or(0, |chosen| chosen.workspace)
    }
}

const SIMULATOR: &str = "simulator";

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(it) = self.0 else { return f.write_str(SIMULATOR) };
        write!(
            f,
            "cublaslt={} id={} tile={} stages={} splits={} workspace={} alignment={} data=",
            it.version, it.id, it.tile, it.stages, it.splits, it.workspace, it.alignment
        )?;
        for (index, word) in it.data.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{word:x}")?;
        }
        Ok(())
    }
}

/// The error for a text that is not the text of an [`Algorithm`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no algorithm of cuBLASLt: {part} is missing or wrong; store what `Algorithm` prints"
)]
pub struct ParseAlgorithmError {
    text: String,
    part: &'static str,
}

impl FromStr for Algorithm {
    type Err = ParseAlgorithmError;

    fn from_str(text: &str) -> Result<Self, ParseAlgorithmError> {
        if text.trim() == SIMULATOR {
            return Ok(Self::SIMULATOR);
        }
        let wrong = |part| ParseAlgorithmError { text: text.to_owned(), part };
        let mut fields = text.split_whitespace();
        let mut field = |name: &'static str| {
            let value = fields.next().and_then(|field| field.strip_prefix(name)?.strip_prefix('='));
            value.ok_or_else(|| wrong(name))
        };
        fn number<N: FromStr>(value: &str) -> Option<N> {
            value.parse().ok()
        }
        let mut small = |name| number::<u32>(field(name)?).ok_or_else(|| wrong(name));
        let version = small("cublaslt")?.into();
        let (id, tile, stages, splits) =
            (small("id")?, small("tile")?, small("stages")?, small("splits")?);
        let mut large = |name| number::<u64>(field(name)?).ok_or_else(|| wrong(name));
        let (workspace, alignment) = (large("workspace")?, large("alignment")?);
        let words = field("data")?.split(',').map(|word| u64::from_str_radix(word, 16));
        let words: Vec<u64> = words.collect::<Result<_, _>>().map_err(|_| wrong("data"))?;
        let data = words.try_into().map_err(|_| wrong("data"))?;
        match fields.next() {
            Some(_) => Err(wrong("the end")),
            None => {
                let sizes = Chosen { workspace, alignment, ..Chosen::NOTHING };
                Ok(Self(Some(Chosen { version, id, tile, stages, splits, data, ..sizes })))
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_text_is_the_algorithm() {
        let data = [1, u64::MAX, 0, 0xabc, 4, 5, 6, 7];
        let chosen = Chosen {
            version: 120_901,
            id: 1,
            tile: 2,
            stages: 3,
            splits: 4,
            workspace: 1 << 25,
            alignment: 16,
            data,
        };
        for algorithm in [Algorithm(Some(chosen)), Algorithm::SIMULATOR] {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
    }

    #[test]
    fn another_text_is_refused_with_the_part() {
        let whole = "cublaslt=1 id=2 tile=3 stages=4 splits=5 workspace=6 alignment=16 data=0,1,2,3,4,5,6,7";
        assert!(whole.parse::<Algorithm>().is_ok());
        for (from, to, part) in [
            ("cublaslt=1", "", "cublaslt"),
            ("id=2", "id=-2", "id"),
            ("workspace=6", "workspace=x", "workspace"),
            ("alignment=16", "", "alignment"),
            (",7", "", "data"),
            ("0,1", "0,g", "data"),
            (",7", ",7 more", "the end"),
        ] {
            let error = whole.replacen(from, to, 1).parse::<Algorithm>().unwrap_err();
            assert_eq!(error.part, part);
            assert!(error.to_string().contains(&format!(": {part} is missing or wrong; store")));
        }
    }
}
