//! The tree of a reduction, as the documentation of `streamflow/src/kernel/reduce/mod.rs` has it.

/// A function of two values, and its value without elements.
pub(super) struct Model<S> {
    pub(super) identity: S,
    pub(super) combine: fn(S, S) -> S,
}

impl<S: Copy> Model<S> {
    /// The value of elements, in row-major order.
    pub(super) fn all(&self, values: &[S]) -> S {
        if values.len() <= 16_384 {
            let lanes =
                [1, 32, 256][[16, 1024].iter().filter(|most| values.len() > **most).count()];
            return self.part(values, lanes);
        }
        let tiles = values.len().div_ceil(4096);
        let parts = values.chunks(4096 * tiles.div_ceil(512));
        self.all(&parts.map(|part| self.part(part, 256)).collect::<Vec<_>>())
    }

    /// The value along an axis that is not the one with the smallest stride, for this number of results.
    pub(super) fn column(&self, values: &[S], results: usize) -> S {
        if values.len() <= 1 {
            return self.all(values);
        }
        let parts = ((1 << 18) / results).clamp(1, values.len().div_ceil(16).clamp(1, 512));
        let part =
            |first: usize| self.lane(values.iter().skip(first).step_by(parts).copied().enumerate());
        let values: Vec<S> = (0..parts).map(part).collect();
        if parts == 1 { values[0] } else { self.all(&values) }
    }

    /// The value of elements by lanes.
    fn part(&self, values: &[S], lanes: usize) -> S {
        let mut split = vec![Vec::new(); lanes];
        values.iter().enumerate().for_each(|(i, value)| split[i / 4 % lanes].push((i % 4, *value)));
        let lanes: Vec<S> = split.into_iter().map(|own| self.lane(own)).collect();
        let warps: Vec<S> = lanes.chunks(32).map(|warp| self.halved(warp)).collect();
        self.halved(&warps)
    }

    /// The value of one lane: elements with their accumulators, whose number counts by 4.
    fn lane(&self, values: impl IntoIterator<Item = (usize, S)>) -> S {
        let mut sums = [self.identity; 4];
        for (number, value) in values {
            sums[number % 4] = (self.combine)(sums[number % 4], value);
        }
        let [a, b, c, d] = sums;
        (self.combine)((self.combine)(a, b), (self.combine)(c, d))
    }

    fn halved(&self, values: &[S]) -> S {
        if values.len() == 1 {
            return values[0];
        }
        let (low, high) = values.split_at(values.len() / 2);
        let pairs = low.iter().zip(high).map(|(low, high)| (self.combine)(*low, *high));
        self.halved(&pairs.collect::<Vec<_>>())
    }
}
