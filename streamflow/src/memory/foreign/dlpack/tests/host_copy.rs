//! Tests of copies in host memory that are made for other libraries.

use super::*;

/// Returns the first `len` elements of a tensor that another library would read on the host.
fn numbers<T: Copy>(tensor: &DlTensor, len: usize) -> Vec<T> {
    let start = std::ptr::with_exposed_provenance::<T>(tensor.address() as usize);
    // SAFETY: the structure is alive, and its tensor has this number of dense elements on the host.
    unsafe { std::slice::from_raw_parts(start, len) }.to_vec()
}

/// The deleter of a copy frees the copy at once, and makes no call of the driver: a copy belongs to no pool.
#[test]
fn a_copy_on_the_host_is_free_when_its_deleter_was_called() {
    let (recorder, platform, stream) = bench();
    for abi in [Abi::Versioned, Abi::Legacy] {
        let tensor = platform.upload(&[1_i16, -2, 3, 4, 5, 6]).unwrap().reshape([2, 3]).unwrap();
        let copy = stream.download_dlpack_blocking(&tensor, abi).unwrap();
        drop(tensor);
        assert_eq!((copy.shape(), copy.strides()), (&[2, 3][..], Some(&[3, 1][..])));
        assert_eq!(copy.device(), DlDevice { kind: DlDevice::CPU, id: 0 });
        assert_eq!((copy.is_copied(), copy.is_read_only()), (abi == Abi::Versioned, false));
        assert!(copy.address().is_multiple_of(256));
        assert_eq!(numbers::<i16>(&copy, 6), [1, -2, 3, 4, 5, 6]);
        recorder.clear();
        thread::spawn(move || drop(copy)).join().unwrap();
        assert!(recorder.calls().is_empty(), "{}", recorder.text());
    }
}

#[test]
fn an_empty_copy_has_no_address() {
    let (_, platform, stream) = bench();
    let tensor = platform.tensor::<f64>([0, 3], &stream).unwrap();
    let copy = stream.download_dlpack_blocking(&tensor, Abi::Versioned).unwrap();
    assert_eq!((copy.shape(), copy.address()), (&[0, 3][..], 0));
}
