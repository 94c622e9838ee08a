//! The tree of a scan on the simulator: `cuda/scan.cuh` has the same one.

use std::marker::PhantomData;
use std::ptr;

use super::plan::{BY_THREAD, BY_TILES, CLEAR, GROUP, PARAMS, Plan, STEP, steps};
use crate::driver::HostArgs;
use crate::kernel::KernelInfo;
use crate::kernel::body::Faults;
use crate::kernel::combine::ScanKernel;

const WARP: usize = 32;
/// The warps of a tile.
const WARPS: usize = 8;

/// Executes one launch of the kernel that `info` describes.
///
/// # Safety
/// The parameters are those of [`Plan::pass`], for elements that are allocated and that no other code writes, and for results that
/// no other code uses.
pub(super) unsafe fn scan<K: ScanKernel>(args: &HostArgs<'_>, info: &'static KernelInfo) {
    let (plan, input, out) = Plan::passed(args);
    // The values of tiles are in the function below.
    if plan.form == CLEAR {
        return;
    }
    // SAFETY: the report's address is the parameter after the plan's, as `launch_kernel` passes it.
    let _faults = K::REPORTS.then(|| unsafe { Faults::of(args, PARAMS, info) });
    let elements = ptr::with_exposed_provenance::<K::Input>(input as usize);
    let results = ptr::with_exposed_provenance_mut::<K::Output>(out as usize);
    for row in 0..plan.rows() {
        let [first, first_result] = plan.firsts(row);
        // SAFETY: the plan's places are those of elements that the caller vouches for.
        let value = |i| K::of(unsafe { elements.add(first + plan.places(i)[0]).read() }, i);
        let finish = |i, state| {
            let [_, place] = plan.places(i);
            // SAFETY: as above, for a result.
            unsafe { results.add(first_result + place).write(K::finish(state, i + 1)) };
        };
        Row::<K, _, _> { length: plan.length(), value, finish, kernel: PhantomData }
            .scan(plan.form);
    }
}

/// A row: `value` has its values, and `finish` takes its results, each once.
struct Row<K, V, F> {
    length: u64,
    value: V,
    finish: F,
    kernel: PhantomData<K>,
}

/// 128 neighbours: for each lane the values of four, each combined with those before it, and the value of the lanes before it.
struct Neighbours<S> {
    first: u64,
    own: [[S; 4]; WARP],
    before: [S; WARP],
    all: S,
}

impl<K: ScanKernel, V: Fn(u64) -> K::State, F: Fn(u64, K::State)> Row<K, V, F> {
    fn scan(&self, form: u64) {
        match form {
            BY_THREAD => self.by_thread(),
            BY_TILES => self.by_tiles(),
            _ => self.by_warp(),
        }
    }

    fn by_thread(&self) {
        let mut before = K::identity();
        for first in (0..self.length).step_by(4) {
            let own = self.four(first);
            self.write(first, before, &own);
            before = K::combine(before, own[3]);
        }
    }

    fn by_warp(&self) {
        let mut before = K::identity();
        for first in (0..self.length).step_by(STEP as usize) {
            let neighbours = self.neighbours(first);
            self.write_all(&neighbours, before, None);
            before = K::combine(before, neighbours.all);
        }
    }

    /// Computes the values of a tile twice, for its own value and for its results, so that nothing is allocated.
    fn by_tiles(&self) {
        let steps = steps(size_of::<K::State>());
        let of_warp = |first: u64| (0..steps).map(move |step| first + step * STEP);
        let size = WARPS as u64 * steps * STEP;
        let mut board = Board::<K>::default();
        for tile in (0..self.length).step_by(size as usize) {
            let first = |warp: usize| tile + warp as u64 * steps * STEP;
            let combine = |sum, first| K::combine(sum, self.neighbours(first).all);
            let warps: [_; WARPS] =
                std::array::from_fn(|warp| of_warp(first(warp)).fold(K::identity(), combine));
            let all = warps.into_iter().fold(K::identity(), K::combine);
            let is_alone = self.length <= size;
            let of_tiles = if is_alone { K::identity() } else { board.before(all) };
            let mut of_warps = K::identity();
            for (warp, of_this) in warps.into_iter().enumerate() {
                let before = K::combine(of_tiles, of_warps);
                let mut sum = K::identity();
                for first in of_warp(first(warp)) {
                    let neighbours = self.neighbours(first);
                    self.write_all(&neighbours, before, Some(sum));
                    sum = K::combine(sum, neighbours.all);
                }
                of_warps = K::combine(of_warps, of_this);
            }
        }
    }

    /// The values of four neighbours, each combined with those before it. There are identities after the last element.
    fn four(&self, first: u64) -> [K::State; 4] {
        let mut own = [K::identity(); 4];
        for (c, i) in (first..self.length.min(first + 4)).enumerate() {
            own[c] = (self.value)(i);
        }
        for c in 1..4 {
            own[c] = K::combine(own[c - 1], own[c]);
        }
        own
    }

    fn neighbours(&self, first: u64) -> Neighbours<K::State> {
        let own: [_; WARP] = std::array::from_fn(|lane| self.four(first + 4 * lane as u64));
        let mut before = own.map(|own| own[3]);
        let all = of_lanes::<K>(&mut before);
        before.copy_within(..WARP - 1, 1);
        before[0] = K::identity();
        Neighbours { first, own, before, all }
    }

    /// Writes the results of 128 neighbours. In a tile, the steps before this one of the same warp have a value of their own.
    fn write_all(&self, of: &Neighbours<K::State>, before: K::State, of_steps: Option<K::State>) {
        for ((own, of_lanes), first) in of.own.iter().zip(&of.before).zip((of.first..).step_by(4)) {
            let of_warp = of_steps.map_or(*of_lanes, |steps| K::combine(steps, *of_lanes));
            self.write(first, K::combine(before, of_warp), own);
        }
    }

    fn write(&self, first: u64, before: K::State, own: &[K::State; 4]) {
        for (i, own) in (first..self.length).zip(own) {
            (self.finish)(i, K::combine(before, *own));
        }
    }
}

/// Combines the value of each lane with those before it, and returns the value of all.
fn of_lanes<K: ScanKernel>(values: &mut [K::State]) -> K::State {
    let mut by = 1;
    while by < values.len() {
        for lane in (by..values.len()).rev() {
            values[lane] = K::combine(values[lane - by], values[lane]);
        }
        by *= 2;
    }
    values.last().copied().unwrap_or_else(K::identity)
}

/// The values of the tiles of a group, those of the groups of a group of groups, and the value of all before it.
struct Board<K: ScanKernel> {
    tiles: Values<K::State>,
    groups: Values<K::State>,
    before: K::State,
}

/// As many values as a group has at most: the rest are identities.
struct Values<S> {
    values: [S; GROUP],
    count: usize,
}

impl<K: ScanKernel> Default for Board<K> {
    fn default() -> Self {
        let [tiles, groups] = [(); 2].map(|()| Values { values: [K::identity(); GROUP], count: 0 });
        Self { tiles, groups, before: K::identity() }
    }
}

impl<K: ScanKernel> Board<K> {
    /// Posts the value of the next tile, and returns that of all tiles before it.
    fn before(&mut self, own: K::State) -> K::State {
        let [in_group, in_super] =
            [&self.tiles, &self.groups].map(|of| of_lanes::<K>(&mut of.values.clone()));
        let before = K::combine(K::combine(self.before, in_super), in_group);
        if self.tiles.push(own, K::identity()) {
            let group = K::combine(in_group, own);
            if self.groups.push(group, K::identity()) {
                self.before = K::combine(self.before, K::combine(in_super, group));
            }
        }
        before
    }
}

impl<S: Copy> Values<S> {
    /// Adds a value, and returns whether it is the last one of its group: then the next group begins.
    fn push(&mut self, value: S, identity: S) -> bool {
        self.values[self.count] = value;
        self.count += 1;
        let is_last = self.count == GROUP;
        if is_last {
            *self = Self { values: [identity; GROUP], count: 0 };
        }
        is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::reductions::{Max, Sum};

    /// Tiles of more than two groups of groups, with sums that do not depend on the tree.
    #[test]
    fn the_value_before_each_tile_is_that_of_all_tiles_before_it() {
        let (mut sums, mut most) = (Board::<Sum<u8>>::default(), Board::<Max<i32>>::default());
        let (mut sum, mut largest) = (0, i32::MIN);
        for tile in 0..2 * 1024 + 70 {
            let value = tile * tile % 1009;
            assert_eq!(sums.before(value), sum, "tile {tile}");
            sum += value;
            // The largest value is among the first tiles.
            let value = 5000 - (tile as i32 - 40).abs();
            assert_eq!(most.before(value), largest, "tile {tile}");
            largest = largest.max(value);
        }
    }
}
