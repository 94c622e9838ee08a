//! Images of random samples, and the results that other libraries gave for them.

use serde_json::Value;
use streamflow::prelude::*;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, check, check_close};
use streamflow_vision::Image;
use streamflow_vision::format::Format;

/// The results that a script of `tests/references` wrote.
pub(crate) struct References(Value);

impl References {
    pub(crate) fn new(text: &str) -> Result<Self> {
        Ok(Self(serde_json::from_str(text)?))
    }

    /// Returns the numbers of a case.
    pub(crate) fn case(&self, name: &str) -> Result<Vec<f64>> {
        let numbers = self.0["cases"][name].as_array();
        let numbers = numbers.ok_or_else(|| Failure::msg(format!("there is no case `{name}`")))?;
        Ok(numbers.iter().filter_map(Value::as_f64).collect())
    }

    /// Checks that the numbers of a result are those of a case, up to a difference.
    pub(crate) fn check<T: Copy + Into<f64> + std::fmt::Debug>(
        &self,
        name: &str,
        found: &[T],
        off: f64,
    ) -> Result<(), Failed> {
        let wanted = self.case(name)?;
        check(found.len() == wanted.len(), || {
            format!("{name}: {} numbers, not {}", found.len(), wanted.len())
        })?;
        self.check_begin(name, found, off)
    }

    /// Checks that the first numbers of a result are those of a case that has only these, up to a difference.
    pub(crate) fn check_begin<T: Copy + Into<f64> + std::fmt::Debug>(
        &self,
        name: &str,
        found: &[T],
        off: f64,
    ) -> Result<(), Failed> {
        let wanted = self.case(name)?;
        check(!wanted.is_empty(), || format!("`{name}` has no numbers"))?;
        let found = found.get(..wanted.len()).unwrap_or(found);
        check_close(found, &wanted, |_| off)
            .map_err(|error| Failure::msg(format!("{name}: {error}")))
    }
}

/// Makes a tensor of these elements on device 0.
pub(crate) fn tensor<T: Element>(
    platform: &Platform,
    elements: &[T],
    shape: &[usize],
) -> Result<Tensor<T>> {
    Ok(platform.upload(elements)?.reshape(shape)?)
}

/// Makes an image of these samples in rows with this many samples of noise behind each.
pub(crate) fn image<F: Format>(
    platform: &Platform,
    samples: &[F::Sample],
    [width, height]: [usize; 2],
    padding: usize,
) -> Result<Image<F>>
where
    F::Sample: From<u8>,
{
    let rows = match F::NAME {
        "NV12" | "P010" | "I420" => height + height / 2,
        _ => height,
    };
    let row = samples.len().checked_div(rows).unwrap_or(0);
    let mut noise = Random::new(99);
    let mut padded = Vec::new();
    let mut push = |row: &[F::Sample], padding: usize| {
        padded.extend_from_slice(row);
        padded.extend(noise.bytes(padding).into_iter().map(F::Sample::from));
    };
    for index in 0..rows {
        let row = &samples[index * row..][..row];
        if F::NAME == "I420" && index >= height {
            // Two rows of chroma, each with half of the padding.
            row.chunks(width / 2).for_each(|row| push(row, padding / 2));
        } else {
            push(row, padding);
        }
    }
    Image::new(tensor(platform, &padded, &[rows, row + padding])?, width, height)
}

/// Runs one tick of an operator with a message at an input, and returns the elements that it sends, and its message.
macro_rules! ticked {
    ($platform:expr, $operator:expr, $($input:ident: $message:expr),+ => $output:ident) => {{
        let mut harness = streamflow::testing::OperatorHarness::new($platform, $operator)?;
        $(harness.push(|ports| &mut ports.$input, $message)?;)+
        streamflow_tests::check(harness.tick()?, || "no tick".to_owned())?;
        let sent = harness.take(|ports| &mut ports.$output);
        let sent = sent.ok_or_else(|| Failure::msg("nothing was sent"))?.message;
        let elements = harness.stream().download_blocking(sent.elements())?;
        (elements, sent)
    }};
}
pub(crate) use ticked;

/// The memory of a message.
pub(crate) trait Elements {
    type Of: Element;
    fn elements(&self) -> &Tensor<Self::Of>;
}

impl<F: Format> Elements for Image<F> {
    type Of = F::Sample;
    fn elements(&self) -> &Tensor<F::Sample> {
        self.samples()
    }
}

impl<T: Element> Elements for Tensor<T> {
    type Of = T;
    fn elements(&self) -> &Self {
        self
    }
}
