//! Computes the words of Philox4x32-10, and writes values to their positions in the output.

/// The number of sequences whose values cuRAND interleaves in its output.
pub(super) const SEQUENCES: u64 = 65536;

/// The number of values of one round: each sequence gives four.
pub(super) const ROUND: u64 = 4 * SEQUENCES;

/// Returns the four words of a sequence at a counter (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
pub(super) fn words(seed: u64, counter: u64, sequence: u32) -> [u32; 4] {
    let halves = |number: u64| [number as u32, (number >> 32) as u32];
    let product = |factor: u32, word: u32| halves(u64::from(factor) * u64::from(word));
    let [[low, high], mut key] = [halves(counter), halves(seed)];
    let mut state = [low, high, sequence, 0];
    for _ in 0..10 {
        let [low0, high0] = product(0xD251_1F53, state[0]);
        let [low1, high1] = product(0xCD9E_8D57, state[2]);
        state = [high1 ^ state[1] ^ key[0], low1, high0 ^ state[3] ^ key[1], low0];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    state
}

/// Fills `out` with the values of a round from the position `place` on, and then with those of the rounds after it. `values`
/// returns the four values of a sequence in a round, by the number of whole rounds since the first one, and the number of the
/// sequence.
pub(super) fn groups<T: Copy>(out: &mut [T], place: u32, values: impl Fn(u64, u32) -> [T; 4]) {
    let (mut group, mut skipped) = (u64::from(place / 4), place as usize % 4);
    let mut rest = out;
    while !rest.is_empty() {
        let four = values(group / SEQUENCES, (group % SEQUENCES) as u32);
        let now = &four[skipped..];
        let (written, after) = rest.split_at_mut(now.len().min(rest.len()));
        written.copy_from_slice(&now[..written.len()]);
        (rest, group, skipped) = (after, group + 1, 0);
    }
}
