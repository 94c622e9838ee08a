//! The tree of a scan in plain Rust: `kernel/scan/mod.rs` has it.

/// A function of two values, its identity, and how many times 128 elements a warp of a tile has.
pub(super) struct Model<S> {
    pub(super) identity: S,
    pub(super) combine: fn(S, S) -> S,
    pub(super) steps: usize,
}

impl<S: Copy> Model<S> {
    /// The results of a row.
    pub(super) fn row(&self, values: &[S]) -> Vec<S> {
        match values.len() {
            0..=16 => self.lane(values),
            17..=512 => self.warp(values),
            _ => self.tiles(values),
        }
    }

    /// The results of a row by one lane.
    pub(super) fn lane(&self, values: &[S]) -> Vec<S> {
        let mut before = self.identity;
        let mut results = Vec::new();
        for four in values.chunks(4) {
            let own = self.padded::<4>(four);
            results.extend(own.map(|value| (self.combine)(before, value)));
            before = (self.combine)(before, own[3]);
        }
        results.truncate(values.len());
        results
    }

    fn warp(&self, values: &[S]) -> Vec<S> {
        let mut before = self.identity;
        let mut results = Vec::new();
        for neighbours in values.chunks(128) {
            let (own, all) = self.neighbours(neighbours);
            results.extend(
                own.iter()
                    .map(|(lanes, value)| (self.combine)((self.combine)(before, *lanes), *value)),
            );
            before = (self.combine)(before, all);
        }
        results.truncate(values.len());
        results
    }

    fn tiles(&self, values: &[S]) -> Vec<S> {
        let size = 8 * 128 * self.steps;
        let tiles: Vec<_> = values.chunks(size).map(|tile| self.tile(tile)).collect();
        let alone = tiles.len() == 1;
        let sums: Vec<S> = tiles.iter().map(|tile| tile.1).collect();
        let mut results = Vec::new();
        for (number, (own, _)) in tiles.iter().enumerate() {
            let before = if alone { self.identity } else { self.before_tile(&sums, number) };
            for (of_warps, of_steps, value) in own {
                let of_tile = (self.combine)(before, *of_warps);
                results.push((self.combine)((self.combine)(of_tile, *of_steps), *value));
            }
        }
        results.truncate(values.len());
        results
    }

    /// For each element of a tile: the value of the warps before it, of its warp's elements before its four, and its own among these.
    /// The value of the tile follows.
    fn tile(&self, values: &[S]) -> (Vec<(S, S, S)>, S) {
        let mut own = Vec::new();
        let mut of_warps = self.identity;
        for warp in 0..8 {
            let mut of_steps = self.identity;
            for step in 0..self.steps {
                let first = (128 * (warp * self.steps + step)).min(values.len());
                let (lanes, all) = self.neighbours(&values[first..values.len().min(first + 128)]);
                own.extend(
                    lanes.iter().map(|(before, value)| {
                        (of_warps, (self.combine)(of_steps, *before), *value)
                    }),
                );
                of_steps = (self.combine)(of_steps, all);
            }
            of_warps = (self.combine)(of_warps, of_steps);
        }
        (own, of_warps)
    }

    fn before_tile(&self, sums: &[S], tile: usize) -> S {
        let (in_super, super_) = (tile / 32 % 32, tile / 1024);
        let mut before = self.identity;
        for number in 0..super_ {
            let groups: Vec<S> =
                (32 * number..32 * number + 32).map(|g| self.group(sums, g)).collect();
            let (_, first) = self.of_lanes(&groups[..31]);
            before = (self.combine)(before, (self.combine)(first, groups[31]));
        }
        let groups: Vec<S> =
            (32 * super_..32 * super_ + in_super).map(|g| self.group(sums, g)).collect();
        let (_, of_groups) = self.of_lanes(&groups);
        let (_, of_tiles) = self.of_lanes(&sums[tile / 32 * 32..tile]);
        (self.combine)((self.combine)(before, of_groups), of_tiles)
    }

    /// The value of a whole group: that of its first 31 tiles, and the last one.
    fn group(&self, sums: &[S], number: usize) -> S {
        let tiles = &sums[32 * number..32 * number + 32];
        (self.combine)(self.of_lanes(&tiles[..31]).1, tiles[31])
    }

    /// For each of 128 elements the value of the lanes before it, and its own among its four. The value of all follows.
    fn neighbours(&self, values: &[S]) -> (Vec<(S, S)>, S) {
        let fours: Vec<[S; 4]> = (0..32)
            .map(|lane| self.padded(values.chunks(4).nth(lane).unwrap_or_default()))
            .collect();
        let last: Vec<S> = fours.iter().map(|four| four[3]).collect();
        let (before, all) = self.of_lanes(&last);
        let with = |(four, before): (&[S; 4], &S)| four.map(|value| (*before, value));
        (fours.iter().zip(&before).flat_map(with).collect(), all)
    }

    /// For each of 32 lanes the value of the lanes before it, and the value of all. Lanes without a value have the identity.
    fn of_lanes(&self, values: &[S]) -> (Vec<S>, S) {
        let mut lanes = values.to_vec();
        lanes.resize(32, self.identity);
        for by in [1, 2, 4, 8, 16] {
            let old = lanes.clone();
            for lane in by..32 {
                lanes[lane] = (self.combine)(old[lane - by], old[lane]);
            }
        }
        let all = lanes[31];
        lanes.rotate_right(1);
        lanes[0] = self.identity;
        (lanes, all)
    }

    /// Each value combined with those before it.
    fn padded<const N: usize>(&self, values: &[S]) -> [S; N] {
        let mut own = [self.identity; N];
        own[..values.len()].copy_from_slice(values);
        for i in 1..N {
            own[i] = (self.combine)(own[i - 1], own[i]);
        }
        own
    }
}
