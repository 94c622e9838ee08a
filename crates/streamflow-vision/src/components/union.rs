//! The union-find of components.
//!
//! Each pixel of the mask has a parent with an index that is not larger, and the one that is its own parent is the first pixel of its
//! component. Any other pixel has `u32::MAX`.

use streamflow::memory::Bool8;
use streamflow::prelude::*;

/// The parent of a pixel before components are joined: the first pixel of its run in the row, within 32 columns.
#[kernel(map)]
pub(super) fn first_of_run(
    out: &mut u32,
    mask: &[u8],
    pitch: usize,
    #[at] [y, x]: [usize; 2],
    #[at] i: usize,
) {
    let row = y * pitch;
    let mut parent = u32::MAX;
    if mask[row + x] != 0 {
        let mut first = x;
        while first % 32 != 0 && mask[row + first - 1] != 0 {
            first -= 1;
        }
        parent = (i - (x - first)) as u32;
    }
    *out = parent;
}

/// Joins the trees of neighbours. A neighbour is joined only where no other one, or one that is joined by another pixel, does it.
#[kernel(
    requires(width > 0, parents.len() % width == 0),
    unsafe cuda = "
    const unsigned int none = 0xffffffffu;
    const unsigned long long x = thread_index(), y = thread_index_y(), i = y * width + x;
    if (x >= width || i >= parents_len) return;
    volatile unsigned int* const tree = parents;
    if (tree[i] == none) return;
    // The way becomes half as long, since each second pixel on it gets the parent of its parent.
    auto root = [&](unsigned int a) {
        for (unsigned int up = tree[a]; up != a; up = tree[a]) {
            const unsigned int next = tree[up];
            if (next != up) tree[a] = next;
            a = next;
        }
        return a;
    };
    auto join = [&](unsigned int a, unsigned int b) {
        for (;;) {
            a = root(a);
            b = root(b);
            if (a == b) return;
            if (a < b) {
                const unsigned int c = a;
                a = b;
                b = c;
            }
            // Another thread may have given `a` a parent since: that one is joined with `b` then.
            const unsigned int before = atomicMin(parents + a, b);
            if (before == a) return;
            a = before;
        }
    };
    const bool left = x > 0 && tree[i - 1] != none;
    if (left && x % 32 == 0) join(i, i - 1);
    if (y == 0) return;
    const unsigned long long above = i - width;
    const bool upper_left = x > 0 && tree[above - 1] != none, upper = tree[above] != none;
    if (upper) {
        // With both on the left, these two are joined, and each has this row's other pixel in its run.
        if (!(left && upper_left)) join(i, above);
    } else if (diagonals) {
        if (upper_left && !left) join(i, above - 1);
        if (x + 1 < width && tree[above + 1] != none) join(i, above + 1);
    }
"
)]
pub(super) fn join(parents: &mut [u32], width: usize, diagonals: Bool8) {
    fn first(parents: &[u32], mut i: usize) -> usize {
        while parents[i] as usize != i {
            i = parents[i] as usize;
        }
        i
    }
    for i in 0..parents.len() {
        if parents[i] == u32::MAX {
            continue;
        }
        let (x, is_below) = (i % width, i >= width);
        let has = diagonals.get() && is_below;
        let neighbours = [
            (x > 0).then(|| i - 1),
            is_below.then(|| i - width),
            (has && x > 0).then(|| i - width - 1),
            (has && x + 1 < width).then(|| i - width + 1),
        ];
        for neighbour in neighbours.into_iter().flatten() {
            if parents[neighbour] != u32::MAX {
                let (a, b) = (first(parents, i), first(parents, neighbour));
                parents[a.max(b)] = a.min(b) as u32;
            }
        }
    }
}

/// Makes the first pixel of its component the parent of each pixel.
#[kernel(unsafe cuda = "
    const unsigned long long i = thread_index();
    volatile unsigned int* const tree = parents;
    if (i >= parents_len || tree[i] == 0xffffffffu) return;
    // Only its own thread writes a pixel's parent here, so that none replaces the first pixel by another one. Threads whose way leads over
    // this pixel have fewer steps, the farther it is.
    unsigned int first = tree[i];
    for (unsigned int up = tree[first]; up != first; up = tree[first]) {
        first = up;
        tree[i] = first;
    }
")]
pub(super) fn flatten(parents: &mut [u32]) {
    for i in 0..parents.len() {
        // The parent's index is not larger, so that its own parent is a first pixel already.
        if parents[i] != u32::MAX {
            parents[i] = parents[parents[i] as usize];
        }
    }
}
