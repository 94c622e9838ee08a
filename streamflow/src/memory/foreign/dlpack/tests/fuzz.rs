//! Tests with random structures: each structure is imported or refused, and no array is read beyond its ends.

use super::*;
use crate::splitmix::SplitMix;

fn one_of<T: Copy>(random: &mut SplitMix, values: &[T]) -> T {
    values[random.below(values.len())]
}

const DIMS: [i64; 9] = [0, 1, 2, 3, 4, -1, i64::MIN, i64::MAX, 1 << 40];

/// Makes a structure with random fields, about half of which are valid. The memory has room for 4 elements. If the device
/// and the type are valid, the shape has at most 4 elements.
fn drawn(
    random: &mut SplitMix,
    memory: &mut [f32; 4],
    dims: &mut Vec<i64>,
    strides: &mut Vec<i64>,
) -> Plain {
    let rank = one_of(random, &[0, 1, 2, 8, 9, -1, i32::MAX, i32::MIN]);
    let numbers = usize::try_from(rank).unwrap_or(0).min(9);
    *dims = (0..numbers).map(|_| one_of(random, &DIMS)).collect();
    *strides = (0..numbers).map(|_| one_of(random, &DIMS)).collect();
    let fits =
        dims.iter().try_fold(1_i64, |count, dim| count.checked_mul(*dim)).is_some_and(|it| it <= 4);
    let bytes = one_of(random, &[0, 0, 1, 4, u64::MAX]);
    let is_inside = fits && bytes == 0;
    let kinds: &[i32] = if is_inside { &[1, 3] } else { &[0, 2, 4, 99, -1, i32::MAX] };
    Plain {
        data: if random.below(8) == 0 { std::ptr::null_mut() } else { memory.as_mut_ptr().cast() },
        device: Device {
            kind: one_of(random, kinds),
            id: one_of(random, &[0, 0, 1, -1, i32::MAX]),
        },
        ndim: rank,
        dtype: one_of(
            random,
            &[
                FLOAT,
                FLOAT,
                DataType { code: 0, bits: 32, lanes: 1 },
                DataType { code: 255, bits: 0, lanes: 0 },
                DataType { code: 2, bits: 32, lanes: u16::MAX },
            ],
        ),
        shape: if random.below(8) == 0 { std::ptr::null_mut() } else { dims.as_mut_ptr() },
        strides: if random.below(2) == 0 { std::ptr::null_mut() } else { strides.as_mut_ptr() },
        byte_offset: bytes,
    }
}

#[test]
fn no_structure_makes_an_import_crash() {
    let (_, platform, stream) = bench();
    let (mut taken, mut refused) = (0, 0);
    // The structures are freed at the end, because the reaper reads a structure some time after its tensor was dropped.
    let mut kept = Vec::new();
    for seed in 0..20_000 {
        let random = &mut SplitMix::new(seed);
        let mut memory = [1.0, 2.0, 3.0, 4.0];
        let (mut dims, mut strides) = (Vec::new(), Vec::new());
        let plain = drawn(random, &mut memory, &mut dims, &mut strides);
        let structures = Box::into_raw(Box::new((
            legacy(plain),
            ManagedVersioned {
                version: Version {
                    major: one_of(random, &[1, 1, 0, 2]),
                    minor: one_of(random, &[0, 3, 9]),
                },
                context: std::ptr::null_mut(),
                deleter: None,
                flags: one_of(random, &[0, abi::READ_ONLY, u64::MAX]),
                tensor: plain,
            },
        )));
        kept.push(structures);
        // SAFETY: the arrays have the lengths that the structures state, or the structures are refused before the arrays
        // are read. The arrays outlive the tensor, and the structures live until the reaper has given the tensor back.
        let managed = unsafe {
            match random.below(2) {
                0 => DlTensor::from_legacy((&raw mut (*structures).0).cast()),
                _ => DlTensor::from_versioned((&raw mut (*structures).1).cast()),
            }
        };
        let imported = managed.and_then(|it| platform.import_dlpack::<f32>(it, After::Complete));
        match imported {
            Ok(tensor) => {
                let tensor = tensor.into_shared();
                let found = stream.download_blocking(&*tensor).unwrap();
                assert_eq!(found, memory[..tensor.len()], "seed {seed}");
                taken += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(taken > 100 && refused > 1000, "{taken} were taken and {refused} refused");
    // The reaper executes its tasks in order. When this last tensor's deleter was called, the reaper no longer uses the
    // structures in `kept`.
    let last = theirs(&[1], &[0.0]);
    let deleted = last.deleted.clone();
    drop(last.import().unwrap());
    assert_eq!(deleted.wait(), 1);
    for structures in kept {
        // SAFETY: the pointer came from `into_raw`, and the reaper has read the structure for the last time.
        drop(unsafe { Box::from_raw(structures) });
    }
}
