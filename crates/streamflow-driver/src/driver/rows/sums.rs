//! The test whether a sum of multiples lies in a range: the arithmetic behind the comparison of two accesses with gaps.
//!
//! [`Sums`] stands for all numbers `step[0] * x[0] + step[1] * x[1] + …`, where each `x[k]` is an integer from 0 to `most[k]`.
//! [`Sums::reach`] decides whether one of them is in `low..=high`. The answer is exact. Each step of the procedure replaces the
//! question by an equivalent one:
//!
//! 1. *Ends.* The sums lie between 0 and the largest sum, `total`, and both ends are sums. So the answer is known if the range
//!    contains one of the ends, or lies outside of them.
//! 2. *Divide.* All sums are multiples of the steps' greatest common divisor, `gcd`. So `low` is rounded up and `high` down to a
//!    multiple, and all numbers are divided by `gcd`.
//! 3. *Absorb.* Some `x` of the smallest step leads into `low..=high` exactly if the sum of the other steps lies in one of the
//!    ranges `low - step * x ..= high - step * x`. If the step is at most the length of the range, `high - low + 1`, then each
//!    of these ranges begins next to the one before or within it, and together they are `low - step * most ..= high`. The step is
//!    left out, and the range grows.
//! 4. *Two steps.* With `high - low < small`, the question is whether some `x` of the larger step leaves a remainder `(high -
//!    large * x) % small` of at most `high - low`: see [`two`]. The smallest such `x` is found as Euclid's algorithm finds a
//!    divisor.
//! 5. *Split.* Otherwise the steps are divided in two groups, the smaller and the larger ones. The sum of the larger steps is a
//!    multiple `z` of their divisor, and then the sum of the smaller steps lies in `low - z ..= high - z`. Each `z` is tried if
//!    this range overlaps the range of the smaller steps' sums. The division is the one with the fewest `z` to try.
//!
//! Steps 2, 3 and 5 leave fewer steps, so the procedure ends.
//!
//! **Cost.** If each step is a multiple of the next smaller one, as in all parts of one array without padding within its
//! elements' rows, the smallest step is 1 after each division and is absorbed: there is no search at all. Two steps of any kind
//! take as many divisions as their numbers have digits. For other steps, `z` lies in a window as long as the sums of the smaller
//! steps. In a view these sums are shorter than the next step, so there are one or two `z`; there are more if steps of two
//! unrelated layouts alternate. In random pairs of layouts there are at most as many tries as both accesses have rows; a test
//! shows that.

use arrayvec::ArrayVec;

/// The most steps of a sum: one for each level of two accesses.
const MAX_STEPS: usize = 2 * super::MAX_LEVELS;

/// A step size, and the most times that the step can be made.
#[derive(Debug, Clone, Copy)]
struct Step {
    step: i128,
    most: i128,
}

/// All sums of multiples of the steps: see the [module](self).
#[derive(Debug, Clone, Default)]
pub(super) struct Sums(ArrayVec<Step, MAX_STEPS>);

impl Sums {
    /// Adds a step that can be made up to `most` times. Equal steps become one.
    pub(super) fn add(&mut self, step: u64, most: u64) {
        let new = Step { step: step.into(), most: most.into() };
        match self.0.binary_search_by_key(&new.step, |known| known.step) {
            Ok(at) => self.0[at].most += new.most,
            // The list has room for all levels of two accesses, so a new step always fits.
            Err(at) if !self.0.is_full() => self.0.insert(at, new),
            Err(_) => {}
        }
    }

    /// Whether one of the sums is in `low..=high`, a range that is not empty. `tries` counts the attempts, for tests.
    pub(super) fn reach(mut self, mut low: i128, mut high: i128, tries: &mut u64) -> bool {
        *tries += 1;
        loop {
            let total = self.total();
            if high < 0 || low > total {
                return false;
            }
            if low <= 0 || high >= total {
                return true;
            }
            let gcd = self.gcd();
            (low, high) = ((low + gcd - 1) / gcd, high / gcd);
            if low > high {
                return false;
            }
            self.0.iter_mut().for_each(|known| known.step /= gcd);
            match self.0.first() {
                Some(Step { step, most }) if *step <= high - low + 1 => low -= step * most,
                _ => break,
            }
            self.0.remove(0);
        }
        if let [small, large] = self.0[..] {
            return two(small, large, low, high);
        }
        self.split(low, high, tries)
    }

    /// The fifth step of the [module](self). The list has at least three steps, and each is made at least once.
    fn split(&self, low: i128, high: i128, tries: &mut u64) -> bool {
        // For a group of larger steps that begins at the index `at`: the range of sums of this group to try, in multiples of
        // their greatest common divisor.
        let candidates = |at: usize| {
            let (smaller, larger) = self.groups(at);
            let gcd = larger.gcd();
            let from = (low - smaller.total()).max(0);
            let to = high.min(larger.total());
            ((from + gcd - 1) / gcd, to / gcd, gcd)
        };
        let fewest = (1..self.0.len()).min_by_key(|at| {
            let (from, to, _) = candidates(*at);
            to - from
        });
        let Some(at) = fewest else { return false };
        let ((from, to, gcd), (smaller, larger)) = (candidates(at), self.groups(at));
        let mut each = from;
        while each <= to {
            let z = each * gcd;
            if smaller.clone().reach(low - z, high - z, tries) && larger.clone().reach(z, z, tries)
            {
                return true;
            }
            each += 1;
        }
        false
    }

    /// The steps before the index `at`, and the steps from `at` on.
    fn groups(&self, at: usize) -> (Self, Self) {
        let (smaller, larger) = self.0.split_at(at);
        (Self(smaller.iter().copied().collect()), Self(larger.iter().copied().collect()))
    }

    fn total(&self) -> i128 {
        self.0.iter().map(|Step { step, most }| step * most).sum()
    }

    fn gcd(&self) -> i128 {
        self.0.iter().fold(0, |gcd, known| greatest_common_divisor(known.step, gcd))
    }
}

fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether two steps reach `low..=high`, if `high - low < small.step` and the range has neither end of the sums.
///
/// For an `x` of the larger step, `rest = high - large * x` is at least 0, and the smaller step fits into it `rest /
/// small` times. No other number of small steps leads into the range, since the range is shorter than the small step;
/// and this number does if `rest % small <= high - low`. This number is at most `small.most` if `rest <= small * most +
/// high - low`.
fn two(small: Step, large: Step, low: i128, high: i128) -> bool {
    let width = high - low;
    let beyond = low - small.step * small.most;
    let from = if beyond > 0 { (beyond + large.step - 1) / large.step } else { 0 };
    let to = (high / large.step).min(large.most);
    if from > to {
        return false;
    }
    // For the t-th `x` from `from` on, `high - large * x` is `rest + t * by`, modulo the small step.
    let modulus = small.step;
    let rest = (high - large.step * from).rem_euclid(modulus);
    if rest <= width {
        return true;
    }
    let by = (-large.step).rem_euclid(modulus);
    let wanted = modulus - rest;
    first_multiple(by, modulus, wanted, wanted + width).is_some_and(|t| t <= to - from)
}

/// The smallest `t` with `low <= (t * factor) % modulus <= high`. `0 < low <= high < modulus`, and `factor < modulus`.
fn first_multiple(factor: i128, modulus: i128, low: i128, high: i128) -> Option<i128> {
    if factor == 0 {
        return None;
    }
    if 2 * factor > modulus {
        // The multiples are counted backwards, so that the numbers become half as large each time.
        return first_multiple(modulus - factor, modulus, modulus - high, modulus - low);
    }
    let t = (low + factor - 1) / factor;
    if t * factor <= high {
        return Some(t);
    }
    // No multiple of the factor is in the range itself, but one is in the range after `y` turns: `low <= t * factor - y * modulus
    // <= high`. Modulo the factor, this is a question about `y` alone.
    let back = (-modulus).rem_euclid(factor);
    let y = first_multiple(back, factor, low % factor, high % factor)?;
    Some((low + y * modulus + factor - 1) / factor)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_multiple_in_a_range_is_the_one_that_counting_finds() {
        for modulus in 2..24_i128 {
            for factor in 0..modulus {
                for low in 1..modulus {
                    for high in low..modulus {
                        let counted =
                            (0..modulus).find(|t| (low..=high).contains(&(t * factor % modulus)));
                        let found = first_multiple(factor, modulus, low, high);
                        assert_eq!(found, counted, "{factor} {modulus} {low} {high}");
                    }
                }
            }
        }
    }

    /// Compares `reach` with all sums of up to four small steps, for each range.
    #[test]
    fn a_range_is_reached_if_it_has_a_sum() {
        let steps = [[3, 5, 7, 11], [4, 6, 9, 10], [2, 13, 17, 29], [6, 10, 15, 40], [8, 8, 12, 3]];
        let mosts = [[1, 2, 1, 3], [2, 0, 3, 1], [3, 1, 1, 1], [0, 0, 2, 4], [5, 4, 3, 2]];
        for steps in steps {
            for mosts in mosts {
                let (mut sums, mut all) = (Sums::default(), vec![0]);
                for (step, most) in steps.into_iter().zip(mosts) {
                    if most > 0 {
                        sums.add(step, most);
                    }
                    let more =
                        |sum: &u64| (0..=most).map(move |x| sum + step * x).collect::<Vec<_>>();
                    all = all.iter().flat_map(more).collect();
                }
                for low in -3..260 {
                    for width in [0, 1, 2, 5] {
                        let range = low..=low + width;
                        let wanted = all.iter().any(|sum| range.contains(&i128::from(*sum)));
                        let found = sums.clone().reach(low, low + width, &mut 0);
                        assert_eq!(found, wanted, "{steps:?} {mosts:?} {range:?}");
                    }
                }
            }
        }
    }

    /// Numbers as large as the largest address cause no overflow.
    #[test]
    fn large_numbers_are_compared() {
        let mut sums = Sums::default();
        sums.add(u64::MAX - 58, 1);
        sums.add((1 << 61) - 1, 6);
        sums.add((1 << 40) - 87, 1 << 20);
        let at = 5 * ((1 << 61) - 1) + 77 * ((1_i128 << 40) - 87);
        assert!(sums.clone().reach(at, at, &mut 0));
        assert!(!sums.clone().reach(at + 1, at + 1, &mut 0));
        assert!(sums.reach(at - 5, at + 5, &mut 0));
    }
}
