//! `Morphology`: the least and the greatest of neighbours.

use std::fmt;
use std::marker::PhantomData;

use streamflow::kernel::Number;
use streamflow::prelude::*;
use streamflow::{Failure, Table};

use crate::format::Packed;
use crate::image::Image;

/// Replaces each sample by the least or the greatest of its neighbours, as OpenCV's `erode`, `dilate` and `morphologyEx`. Neighbours
/// beyond the image do not count.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::Morphology;
/// use streamflow_vision::format::Grey;
///
/// # fn main() -> streamflow::Result<()> {
/// // Removes bright spots of less than three by three pixels.
/// let clean: Morphology<Grey<u8>> = Morphology::open(3, 3)?;
/// # Ok(())
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Morphology<F: Packed> {
    /// The images.
    #[input]
    image: &Image<F>,
    /// The images of the least or greatest samples, without padding.
    #[output]
    changed: Image<F>,
    /// Whether the first and the second step take the greatest sample.
    steps: [Option<bool>; 2],
    /// The neighbours that count, 1, of `columns` × `rows`.
    element: Table<u8>,
    columns: usize,
    rows: usize,
    of: PhantomData<fn(F)>,
}

impl<F: Packed> Morphology<F> {
    /// Creates an operator that takes the least of `columns` × `rows` neighbours.
    ///
    /// # Errors
    /// An error for an even number, which has no middle, and for one above 255.
    pub fn erode(columns: usize, rows: usize) -> Result<Self> {
        Self::rectangle(columns, rows, [Some(false), None])
    }

    /// Creates an operator that takes the greatest of `columns` × `rows` neighbours.
    ///
    /// # Errors
    /// As [`erode`](Self::erode).
    pub fn dilate(columns: usize, rows: usize) -> Result<Self> {
        Self::rectangle(columns, rows, [Some(true), None])
    }

    /// Creates an operator that erodes, and then dilates.
    ///
    /// # Errors
    /// As [`erode`](Self::erode).
    pub fn open(columns: usize, rows: usize) -> Result<Self> {
        Self::rectangle(columns, rows, [Some(false), Some(true)])
    }

    /// Creates an operator that dilates, and then erodes.
    ///
    /// # Errors
    /// As [`erode`](Self::erode).
    pub fn close(columns: usize, rows: usize) -> Result<Self> {
        Self::rectangle(columns, rows, [Some(true), Some(false)])
    }

    fn rectangle(columns: usize, rows: usize, steps: [Option<bool>; 2]) -> Result<Self> {
        if [columns, rows].iter().any(|count| count.is_multiple_of(2) || *count > 255) {
            return Err(Failure::msg(format!(
                "`Morphology` can't take {columns} × {rows} neighbours; give it two odd numbers of at most 255, so that one is in the middle"
            )));
        }
        let element = Table::new(vec![1; columns * rows]);
        Ok(Self { steps, element, columns, rows, of: PhantomData })
    }

    /// Sets the neighbours that count: those where `element`, row by row, is `true`, as for a disc or a cross.
    ///
    /// # Errors
    /// An error for another number of neighbours, and if none counts.
    pub fn with_element(self, element: &[bool]) -> Result<Self> {
        if element.len() != self.columns * self.rows || !element.contains(&true) {
            return Err(Failure::msg(format!(
                "`Morphology` has {} × {} neighbours, and the element has {}, of which {} count; give it one for each, and let one count",
                self.columns,
                self.rows,
                element.len(),
                element.iter().filter(|counts| **counts).count()
            )));
        }
        let element = element.iter().map(|counts| u8::from(*counts));
        Ok(Self { element: Table::new(element.collect::<Vec<_>>()), ..self })
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Morphology<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let (info, element) = (image.info(), self.element.on(cx)?);
        let shape = [info.height, info.width * F::CHANNELS];
        let near = |greatest: bool, pitch: usize| Near {
            size: [info.width as i64, info.height as i64],
            pitch,
            channels: F::CHANNELS,
            columns: self.columns as i64,
            rows: self.rows as i64,
            greatest,
        };
        let mut out = cx.tensor(shape, &stream)?;
        let first = self.steps[0].unwrap_or_default();
        stream.map::<morph<F::Sample>>((
            &mut out,
            image.samples(),
            element,
            near(first, image.pitch()),
        ))?;
        if let Some(second) = self.steps[1] {
            let mut last = cx.tensor(shape, &stream)?;
            stream.map::<morph<F::Sample>>((&mut last, &out, element, near(second, shape[1])))?;
            out = last;
        }
        io.changed.emit(Image::of(out, info))
    }
}

impl<F: Packed> fmt::Debug for Morphology<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Morphology({:?}, {} × {} neighbours)", self.steps, self.columns, self.rows)
    }
}

/// The arguments of a launch of [`morph`].
#[derive(Debug, Clone, Copy, KernelArg)]
struct Near {
    size: [i64; 2],
    pitch: usize,
    channels: usize,
    columns: i64,
    rows: i64,
    greatest: bool,
}

/// The kernel of [`Morphology`]: one step. Where no neighbour counts, the sample stays.
#[kernel(map)]
fn morph<T: Number>(
    out: &mut T,
    #[at] [y, column]: [usize; 2],
    image: &[T],
    element: &[u8],
    near: Near,
) {
    let channel = column % near.channels;
    let x = (column / near.channels) as i64;
    let mut found = image[y * near.pitch + column];
    let mut is_first = true;
    for j in 0..near.rows {
        for i in 0..near.columns {
            let dx = i - near.columns / 2;
            let dy = j - near.rows / 2;
            let at_x = x + dx;
            let at_y = y as i64 + dy;
            let is_within = at_x >= 0 && at_x < near.size[0] && at_y >= 0 && at_y < near.size[1];
            if is_within && element[(j * near.columns + i) as usize] != 0 {
                let sample =
                    image[at_y as usize * near.pitch + at_x as usize * near.channels + channel];
                if is_first {
                    found = sample;
                    is_first = false;
                } else if near.greatest {
                    found = found.max(sample);
                } else {
                    found = found.min(sample);
                }
            }
        }
    }
    *out = found;
}
