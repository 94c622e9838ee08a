//! The range of a parameter, as `#[param(range = 0.0..=1.0)]` declares it.

use std::fmt::Debug;

/// The range that `#[param(range = …)]` gives a parameter.
pub struct Limits<T> {
    contains: Box<dyn Fn(&T) -> bool + Send + Sync>,
    text: String,
}

impl<T: PartialOrd + Debug + Send + Sync + 'static> Limits<T> {
    /// Creates the range from its ends. `None` as an end means that the range has no limit there.
    pub fn new(begin: Option<T>, end: Option<T>, with_end: bool) -> Self {
        let side =
            |side: &Option<T>| side.as_ref().map_or(String::new(), |side| format!("{side:?}"));
        let dots = if with_end { "..=" } else { ".." };
        let text = format!("{}{dots}{}", side(&begin), side(&end));
        // Each comparison is true for a value within the range. So a NaN, for which all comparisons are false, is outside.
        let contains = move |value: &T| {
            let below = |end: &T| if with_end { value <= end } else { value < end };
            begin.as_ref().is_none_or(|begin| value >= begin) && end.as_ref().is_none_or(below)
        };
        Self { contains: Box::new(contains), text }
    }
}

impl<T> Limits<T> {
    pub(super) fn contains(&self, value: &T) -> bool {
        (self.contains)(value)
    }

    /// Returns the range as Rust writes it, as `0.0..=1.0`.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}
