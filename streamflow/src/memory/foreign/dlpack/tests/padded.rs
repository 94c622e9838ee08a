//! Tests of tensors with padded rows, in both directions. The padding has a value of its own, which no work reads or writes.

use super::*;
use crate::memory::PitchedTensor;

/// The value of the padding.
const BESIDE: f32 = -77.0;

/// A tensor of another library of two rows of three elements, with an odd distance of 5. Its memory ends with the last
/// element.
fn rows() -> Box<Theirs> {
    let mut data = vec![1.0, 2.0, 3.0, BESIDE, BESIDE];
    data.extend([4.0, 5.0, 6.0]);
    theirs(&[2, 3], &data).with_strides(&[5, 1])
}

#[test]
fn padded_rows_are_imported_without_a_copy() {
    let (_, platform, stream) = bench();
    let given = rows();
    let (deleted, address) = (given.deleted.clone(), given.data.as_ptr());
    let managed = given.import().unwrap();
    let (shape, strides) = managed.padded_shape::<f32>().unwrap();
    assert_eq!((shape.dims(), &*strides), (&[2, 3][..], &[5, 1][..]));
    let tensor = platform.import_dlpack_pitched::<f32>(managed, After::Complete).unwrap();
    let mut tensor = tensor.into_writable().unwrap();
    assert_eq!(
        (tensor.shape(), &*tensor.strides(), tensor.pitch()),
        (&[2, 3][..], &[5, 1][..], 20)
    );
    assert_eq!(stream.download_blocking(&tensor).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(stream.download_blocking(&*tensor.row(1).unwrap()).unwrap(), [4.0, 5.0, 6.0]);
    let mut dense = platform.tensor([2, 3], &stream).unwrap();
    stream.copy(&tensor, &mut dense).unwrap();
    assert_eq!(stream.download_blocking(&dense).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    stream.upload_blocking(&[7.0, 8.0, 9.0, 10.0, 11.0, 12.0], &mut tensor).unwrap();
    // SAFETY: the memory lives until the deleter is called, and all work with it is complete.
    let whole = unsafe { std::slice::from_raw_parts(address, 8) }.to_vec();
    assert_eq!(whole, [7.0, 8.0, 9.0, BESIDE, BESIDE, 10.0, 11.0, 12.0]);
    let error = text(stream.fill_bytes(&mut tensor, 0));
    assert!(error.contains("[5, 1]") && error.contains("can't be filled at once"), "{error}");
    assert_eq!(deleted.times.load(Ordering::Acquire), 0);
    drop(tensor);
    assert_eq!(deleted.wait(), 1);
}

/// A row has columns and channels, as in a `GpuMat`.
#[test]
fn a_row_may_have_several_dimensions() {
    let (_, platform, stream) = bench();
    let mut data = vec![BESIDE; 7 + 6];
    (0..12).for_each(|at| data[at / 6 * 7 + at % 6] = at as f32);
    let given = theirs(&[2, 3, 2], &data).with_strides(&[7, 2, 1]).import().unwrap();
    let tensor = platform.import_dlpack_pitched::<f32>(given, After::Complete).unwrap();
    let tensor = tensor.into_writable().unwrap();
    let wanted: Vec<f32> = (0..12).map(|at| at as f32).collect();
    assert_eq!(stream.download_blocking(&tensor).unwrap(), wanted);
    assert_eq!((tensor.row_count(), tensor.pitch()), (6, 28));
    assert_eq!(stream.download_blocking(&*tensor.row(4).unwrap()).unwrap(), [8.0, 9.0]);
}

#[test]
fn padded_rows_are_no_dense_tensor() {
    let (_, platform, _) = bench();
    let given = rows();
    let deleted = given.deleted.clone();
    let error = text(platform.import_dlpack::<f32>(given.import().unwrap(), After::Complete));
    for part in ["[5, 1]", "[3, 1]", "`import_dlpack_pitched`", "numpy.ascontiguousarray"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(deleted.wait(), 1);
}

#[test]
fn a_read_only_tensor_with_padded_rows_can_not_be_written() {
    let (_, platform, stream) = bench();
    let mut given = rows();
    given.structure.flags = abi::READ_ONLY;
    let imported = platform.import_dlpack_pitched::<f32>(given.import().unwrap(), After::Complete);
    let shared = imported.unwrap().into_shared().try_unwrap().unwrap_err();
    assert_eq!(stream.download_blocking(&*shared).unwrap()[5], 6.0);
    let given = rows().import().unwrap();
    let forced = platform.import_dlpack_pitched_read_only::<f32>(given, After::Complete).unwrap();
    assert!(text(forced.into_writable()).contains("READ_ONLY"));
}

#[test]
fn a_dense_an_empty_and_a_scalar_tensor_are_imported_as_rows() {
    let (_, platform, stream) = bench();
    for (shape, strides, data) in [
        (&[2, 2][..], &[2, 1][..], &[1.0, 2.0, 3.0, 4.0][..]),
        (&[0, 3], &[9, -1], &[]),
        (&[], &[], &[5.0]),
    ] {
        let given = theirs(shape, data).with_strides(strides).import().unwrap();
        let tensor = platform.import_dlpack_pitched::<f32>(given, After::Complete).unwrap();
        let tensor = tensor.into_writable().unwrap();
        assert_eq!(stream.download_blocking(&tensor).unwrap(), data);
    }
}

/// The strides of an export are those of the tensor, and the memory comes back with them, by both structures.
#[test]
fn a_pitched_tensor_is_exported_with_its_strides() {
    let (_, platform, stream) = bench();
    for abi in [Abi::Versioned, Abi::Legacy] {
        let mut tensor = platform.pitched_tensor::<f32>([2, 3], &stream).unwrap();
        let address = stream.read_raw(tensor.padded(), |address| address).unwrap();
        stream.upload_blocking(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut tensor).unwrap();
        let made = tensor.into_dlpack(abi, Consumer::HostBlocking).unwrap();
        assert_eq!((made.shape(), made.strides()), (&[2, 3][..], Some(&[128, 1][..])));
        assert_eq!(made.address(), address);
        let pointer = made.into_raw();
        // SAFETY: the pointer was just made, and is the only one to the structure.
        let back = unsafe {
            match abi {
                Abi::Versioned => DlTensor::from_versioned(pointer),
                Abi::Legacy => DlTensor::from_legacy(pointer),
            }
        };
        let back = platform.import_dlpack_pitched::<f32>(back.unwrap(), After::Complete).unwrap();
        let back = back.into_writable().unwrap();
        assert_eq!(back.pitch(), 512);
        assert_eq!(stream.download_blocking(&back).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
    let dense = platform.upload(&[1.0_f32, 2.0]).unwrap();
    let shared = crate::Shared::new(PitchedTensor::from(dense));
    let made = shared.to_dlpack(Abi::Versioned, Consumer::HostBlocking).unwrap();
    assert_eq!((made.is_read_only(), made.strides()), (true, Some(&[1][..])));
    assert!(text(shared.to_dlpack(Abi::Legacy, Consumer::HostBlocking)).contains("max_version"));
}
