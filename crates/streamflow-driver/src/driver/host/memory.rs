//! The content of simulated memory. The memory is real host memory at real addresses, filled with poison when it is
//! allocated and when it is freed.

use std::mem::MaybeUninit;
use std::{ptr, slice};

use crate::driver::MemoryRange;
use crate::splitmix::mix;

/// The content of newly allocated memory, as repeated 16-bit words. It is a NaN in `f16`, `f32` and `f64`, so results that
/// are computed from it are NaN, too.
pub const POISON_ALLOCATED: u16 = 0xfff1;

/// The content of freed memory, as repeated 16-bit words. It is a NaN in `f16`, `f32` and `f64`.
pub const POISON_FREED: u16 = 0xfff3;

/// The alignment of allocations. CUDA aligns them to at least 256 bytes (CUDA C++ Programming Guide, *Device memory
/// accesses*).
pub(super) const ALIGNMENT: u64 = 256;

/// Returns the pointer to an address.
pub(super) fn pointer(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// Returns a hash of the bytes of a range. It takes one multiplication for eight bytes, since the hash is computed after
/// each operation of an exploration, also in debug builds. There the standard library's hash takes ten times as long.
///
/// # Safety
/// The bytes are allocated and initialised, and no other code writes them during the call.
pub(super) unsafe fn content(range: MemoryRange) -> u64 {
    let start = pointer(range.address).cast_const();
    // SAFETY: the caller's contract.
    let bytes: &[u8] = unsafe { slice::from_raw_parts(start, range.bytes as usize) };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = range.bytes;
    for word in words {
        hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
    }
    rest.iter().fold(hash, |hash, byte| mix(hash ^ u64::from(*byte)))
}

/// Overwrites bytes with a 16-bit pattern. Its low byte is at even addresses.
///
/// # Safety
/// The bytes are allocated, and no other code touches them during the call. The bytes need not be
/// initialised.
pub(super) unsafe fn poison(address: u64, bytes: u64, pattern: u16) {
    if bytes == 0 {
        return;
    }
    // SAFETY: the caller's contract. The type is `MaybeUninit` because new memory is not initialised.
    let bytes: &mut [MaybeUninit<u8>] =
        unsafe { slice::from_raw_parts_mut(pointer(address).cast(), bytes as usize) };
    let [low, high] = pattern.to_le_bytes();
    // SAFETY: eight `MaybeUninit<u8>` at an aligned address are one `MaybeUninit<u64>`.
    let (head, words, tail) = unsafe { bytes.align_to_mut::<MaybeUninit<u64>>() };
    let word = u64::from_le_bytes([low, high, low, high, low, high, low, high]);
    words.fill(MaybeUninit::new(word));
    for byte in head.iter_mut().chain(tail) {
        let odd = byte.as_ptr().addr() % 2 == 1;
        byte.write(if odd { high } else { low });
    }
}
