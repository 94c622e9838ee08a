//! The times measured in turns, and their comparison.

use std::fmt;

/// How many plans there are, and as many programs by hand, each with a stream and memory of its own. The numbers are
/// equal, so that the code of a call is in the caches equally often on both sides.
pub(crate) const OF_EACH: usize = 2;

/// The number of forms: first all plans, then all programs by hand.
pub(crate) const FORMS: usize = 2 * OF_EACH;

/// The times of one form in one turn, in seconds per call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) device: f64,
    /// The host's time of the turn's first call. The host has waited before it, so the call's memory is no longer in the
    /// fastest caches.
    pub(crate) first: f64,
    /// The host's time of each later call.
    pub(crate) host: f64,
}

/// All measured times of a problem.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) turns: Vec<[Times; FORMS]>,
    /// The host's seconds of single calls, in rounds of one call of each form.
    pub(crate) calls: Vec<[f64; FORMS]>,
    pub(crate) difference: f64,
}

/// How the plans' times differ from those of the programs by hand, measured in the same turns.
struct Difference {
    /// The mean over all pairs of a plan and a program of the median difference `plan - program`.
    more: f64,
    /// The median difference of the second plan from the first plan, and of the second program from the first program.
    apart: [f64; 2],
}

impl Difference {
    fn of(turns: &[[f64; FORMS]]) -> Self {
        let between = |form, other| median(turns.iter().map(|turn| turn[form] - turn[other]));
        let more = (between(0, 2) + between(0, 3) + between(1, 2) + between(1, 3)) / 4.0;
        Self { more, apart: [between(1, 0), between(3, 2)] }
    }
}

impl Measured {
    pub(crate) const HEADINGS: &str = "                  device: plan   by hand    ratio   (apart: plans, by hand)   host: plan   by hand     more   \
                                       (apart)          first: more   (apart)           one call: more   (apart)              results";

    fn of(&self, value: impl Fn(&Times) -> f64) -> Vec<[f64; FORMS]> {
        self.turns.iter().map(|times| times.each_ref().map(&value)).collect()
    }
}

/// Returns the median time of the plans and that of the programs by hand, each the mean over both.
fn medians(turns: &[[f64; FORMS]]) -> [f64; 2] {
    let of = |form: usize| median(turns.iter().map(|turn| turn[form]));
    [(of(0) + of(1)) / 2.0, (of(2) + of(3)) / 2.0]
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.get(middle) {
        None => f64::NAN,
        Some(upper) if values.len() % 2 == 1 => *upper,
        Some(upper) => (values[middle - 1] + upper) / 2.0,
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.of(|times| times.device * 1e6);
        let [plan, by_hand] = medians(&device);
        let Difference { more, apart } = Difference::of(&device);
        let apart = format!("({:.4}, {:.4})", apart[0] / by_hand, apart[1] / by_hand);
        write!(f, "{plan:>9.2} us{by_hand:>10.2}{:>9.4}{apart:>20}", 1.0 + more / by_hand)?;
        let host = self.of(|times| times.host * 1e9);
        let [plan, by_hand] = medians(&host);
        write!(f, "{plan:>16.0} ns{by_hand:>10.0}")?;
        let first = self.of(|times| times.first * 1e9);
        let calls: Vec<_> = self.calls.iter().map(|it| it.map(|seconds| seconds * 1e9)).collect();
        for (times, width) in [(host, 9), (first, 14), (calls, 17)] {
            let Difference { more, apart: [plans, programs] } = Difference::of(&times);
            let apart = format!("({plans:+.0}, {programs:+.0})");
            write!(f, "{more:>width$.0}   {apart:<16}")?;
        }
        write!(f, "{:>10.1e}", self.difference)
    }
}
