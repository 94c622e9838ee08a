//! A run of an exploration as text: the choices that were made in the run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::driver::host::Chooser;

/// The choices of a run that were not option 0, by the number of the choice in the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Choices(BTreeMap<u64, usize>);

impl Choices {
    pub(super) fn new(choices: impl Iterator<Item = usize>) -> Self {
        let other = (0..).zip(choices).filter(|(_, choice)| *choice != 0);
        Self(other.collect())
    }

    /// The choices as text. `3:1,7:2` means: option 1 in choice 3, counted from 0, and option 2 in choice 7. `-` if all are 0.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (place, choice) in &self.0 {
            let comma = if text.is_empty() { "" } else { "," };
            // Writing to a string can't fail.
            let _ = write!(text, "{comma}{place}:{choice}");
        }
        if text.is_empty() { "-".to_owned() } else { text }
    }

    /// Reads what [`text`](Self::text) returns; `None` for any other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text == "-" {
            return Some(Self::default());
        }
        let one = |part: &str| {
            let (place, choice) = part.split_once(':')?;
            Some((place.trim().parse().ok()?, choice.trim().parse().ok()?))
        };
        text.split(',').map(one).collect::<Option<_>>().map(Self)
    }
}

/// Repeats a run: makes the same choices again.
#[derive(Debug, Clone)]
pub(super) struct Replay {
    choices: Choices,
    place: u64,
    /// Whether an option of the text did not exist in the run, so that the text must be of another program.
    mismatch: Arc<AtomicBool>,
}

impl Replay {
    pub(super) fn new(choices: Choices) -> Self {
        Self { choices, place: 0, mismatch: Arc::default() }
    }

    /// Whether the text was found to be of a run of another program. All clones of this value share the answer.
    pub(super) fn is_mismatch(&self) -> bool {
        self.mismatch.load(Ordering::Relaxed)
    }

    fn mark_mismatch(&self) {
        self.mismatch.store(true, Ordering::Relaxed);
    }
}

impl Chooser for Replay {
    fn choose(&mut self, _state: u64, options: usize) -> usize {
        let choice = self.choices.0.get(&self.place).copied().unwrap_or(0);
        self.place += 1;
        if choice < options {
            return choice;
        }
        self.mark_mismatch();
        0
    }

    fn end(&mut self, _state: u64) {
        let last = self.choices.0.last_key_value();
        if last.is_some_and(|(place, _)| *place >= self.place) {
            self.mark_mismatch();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gives_the_same_choices() {
        for choices in [vec![], vec![0, 0], vec![0, 3, 0, 0, 1, 12, 0]] {
            let choices = Choices::new(choices.into_iter());
            assert_eq!(Choices::parse(&choices.text()), Some(choices));
        }
        assert_eq!(Choices::new([0, 3, 0, 1].into_iter()).text(), "1:3,3:1");
        assert_eq!(Choices::new([0].into_iter()).text(), "-");
    }

    #[test]
    fn malformed_text_is_refused() {
        for text in ["", "5", "1:", ":1", "1:2,", "1:-2", "1:2;3:4", "99999999999999999999:1"] {
            assert_eq!(Choices::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_run_of_another_program_is_noticed() {
        let at = |choices: [usize; 2]| Replay::new(Choices::new(choices.into_iter()));
        let ran = |replay: &Replay, options: &[usize]| {
            let mut run = replay.clone();
            let chosen: Vec<_> = options.iter().map(|options| run.choose(0, *options)).collect();
            run.end(0);
            (chosen, replay.is_mismatch())
        };
        assert_eq!(ran(&at([0, 2]), &[3, 3, 3]), (vec![0, 2, 0], false));
        assert_eq!(ran(&at([0, 2]), &[3, 2, 3]), (vec![0, 0, 0], true));
        assert_eq!(ran(&at([0, 2]), &[3]), (vec![0], true));
    }
}
