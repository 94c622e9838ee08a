//! Tests of the rules of DLPack. The tests make structures as another library could make them, and a recorder lists the
//! driver's calls.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fuzz;
mod host_copy;
mod padded;
mod streams;

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use super::abi::{DataType, Device, Managed, ManagedVersioned, Plain, VERSION, Version};
use super::*;
use crate::driver::host::HostDriver;
use crate::driver::{Call, Recorder};
use crate::memory::{After, ForeignCounts, MemoryOptions, Tensor, foreign_counts};
use crate::{CudaStream, CudaStreamPool, Platform};

/// A tensor as another library could export it: a structure, and the memory that the structure points to.
struct Theirs {
    structure: ManagedVersioned,
    shape: Vec<i64>,
    strides: Vec<i64>,
    data: Vec<f32>,
    deleted: Arc<Deleted>,
}

/// A function that makes a tensor of another library invalid.
type Edit = fn(&mut Theirs);

/// The number of calls of a deleter, and the thread of the last call.
#[derive(Debug, Default)]
struct Deleted {
    times: AtomicUsize,
    on: std::sync::Mutex<Option<ThreadId>>,
}

impl Deleted {
    /// Waits until the deleter was called, for 10 s at most. Returns the number of calls.
    fn wait(&self) -> usize {
        let end = Instant::now() + Duration::from_secs(10);
        while self.times.load(Ordering::Acquire) == 0 && Instant::now() < end {
            thread::yield_now();
        }
        self.times.load(Ordering::Acquire)
    }
}

const FLOAT: DataType = DataType { code: 2, bits: 32, lanes: 1 };
const ON_HOST: Device = Device { kind: DlDevice::CPU, id: 0 };

/// Makes a tensor of another library with this shape and these elements. The deleter overwrites the elements with NaN.
fn theirs(shape: &[i64], data: &[f32]) -> Box<Theirs> {
    let mut theirs = Box::new(Theirs {
        structure: ManagedVersioned {
            version: VERSION,
            context: std::ptr::null_mut(),
            deleter: Some(delete),
            flags: 0,
            tensor: Plain {
                data: std::ptr::null_mut(),
                device: ON_HOST,
                ndim: shape.len() as i32,
                dtype: FLOAT,
                shape: std::ptr::null_mut(),
                strides: std::ptr::null_mut(),
                byte_offset: 0,
            },
        },
        shape: shape.to_vec(),
        strides: Vec::new(),
        data: data.to_vec(),
        deleted: Arc::default(),
    });
    theirs.structure.tensor.data = theirs.data.as_mut_ptr().cast();
    theirs.structure.tensor.shape = theirs.shape.as_mut_ptr();
    theirs
}

impl Theirs {
    fn with_strides(mut self: Box<Self>, strides: &[i64]) -> Box<Self> {
        self.strides = strides.to_vec();
        self.structure.tensor.strides = self.strides.as_mut_ptr();
        self
    }

    /// Returns the pointer to the structure, as a Python capsule would contain it.
    fn into_raw(self: Box<Self>) -> *mut c_void {
        let whole = Box::into_raw(self);
        // SAFETY: the box was just leaked.
        unsafe {
            (*whole).structure.context = whole.cast();
            (&raw mut (*whole).structure).cast()
        }
    }

    fn import(self: Box<Self>) -> Result<DlTensor, Error> {
        // SAFETY: the structure is valid, and the pointer is the only one to it.
        unsafe { DlTensor::from_versioned(self.into_raw()) }
    }
}

unsafe extern "C" fn delete(structure: *mut ManagedVersioned) {
    // SAFETY: the structure was made by `into_raw`, and the deleter is called once.
    let mut theirs = unsafe { Box::from_raw((*structure).context.cast::<Theirs>()) };
    theirs.data.fill(f32::NAN);
    *theirs.deleted.on.lock().unwrap() = Some(thread::current().id());
    theirs.deleted.times.fetch_add(1, Ordering::AcqRel);
}

fn bench() -> (Arc<Recorder>, Platform, CudaStream) {
    let recorder = Arc::new(Recorder::new(Arc::new(HostDriver::builder().build())));
    let platform = Platform::builder().driver(recorder.clone()).unwrap();
    let stream = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let stream = stream.allocate("a test").unwrap();
    (recorder, platform, stream)
}

fn text<T: fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn an_imported_tensor_is_read_and_its_deleter_called_once() {
    let (_, platform, stream) = bench();
    let given = theirs(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let (deleted, address) = (given.deleted.clone(), given.data.as_ptr() as u64);
    let managed = given.import().unwrap();
    assert_eq!(format!("{managed:?}"), "DlTensor<float32>[2, 2] on the CPU");
    assert_eq!(managed.address(), address);
    let tensor = platform.import_dlpack::<f32>(managed, After::Complete).unwrap();
    let tensor = tensor.into_writable().unwrap();
    assert_eq!(tensor.shape(), [2, 2]);
    assert_eq!(stream.download_blocking(&tensor).unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(deleted.times.load(Ordering::Acquire), 0);
    drop(tensor);
    assert_eq!(deleted.wait(), 1);
    assert_ne!(*deleted.on.lock().unwrap(), Some(thread::current().id()));
}

#[test]
fn null_strides_zero_sizes_and_no_deleter_are_right() {
    let (_, platform, stream) = bench();
    // A dimension of length 1 may have any stride.
    let dense = theirs(&[2, 1, 2], &[1.0, 2.0, 3.0, 4.0]).with_strides(&[2, 77, 1]);
    let tensor = platform.import_dlpack::<f32>(dense.import().unwrap(), After::Complete).unwrap();
    assert_eq!(stream.download_blocking(&*tensor.into_shared()).unwrap()[3], 4.0);

    let mut empty = theirs(&[0, 3], &[]);
    empty.structure.tensor.data = std::ptr::null_mut();
    let deleted = empty.deleted.clone();
    let tensor = platform.import_dlpack::<f32>(empty.import().unwrap(), After::Complete).unwrap();
    let tensor = tensor.into_writable().unwrap();
    assert_eq!((tensor.shape(), tensor.len()), (&[0, 3][..], 0));
    drop(tensor);
    assert_eq!(deleted.wait(), 1, "also an empty tensor's deleter is called");

    let mut scalar = theirs(&[], &[5.0]);
    scalar.structure.tensor.shape = std::ptr::null_mut();
    let tensor = platform.import_dlpack::<f32>(scalar.import().unwrap(), After::Complete).unwrap();
    assert_eq!(stream.download_blocking(&*tensor.into_shared()).unwrap(), [5.0]);

    let mut kept = theirs(&[1], &[6.0]);
    kept.structure.deleter = None;
    let pointer = (&raw mut kept.structure).cast();
    // SAFETY: a structure without a deleter lives longer than the tensor.
    let managed = unsafe { DlTensor::from_versioned(pointer) }.unwrap();
    let tensor = platform.import_dlpack::<f32>(managed, After::Complete).unwrap();
    assert_eq!(stream.download_blocking(&*tensor.into_shared()).unwrap(), [6.0]);
    drop((stream, platform));
    // The reaper executes its tasks in order. When this last tensor's deleter was called, the reaper no longer reads the
    // structure in `kept`.
    let last = theirs(&[1], &[0.0]);
    let deleted = last.deleted.clone();
    drop(last.import().unwrap());
    assert_eq!((deleted.wait(), kept.data[0]), (1, 6.0));
}

#[test]
fn a_tensor_that_is_not_right_is_an_error_that_says_what_to_do() {
    let (_, platform, _) = bench();
    let refused = |edit: Edit| {
        let mut given = theirs(&[2, 2], &[0.0; 4]);
        edit(&mut given);
        let deleted = given.deleted.clone();
        let imported = given.import();
        let error =
            text(imported.and_then(|it| platform.import_dlpack::<f32>(it, After::Complete)));
        assert_eq!(deleted.wait(), 1, "the deleter of what is refused is called once: {error}");
        error
    };
    let cases: [(Edit, &str, &str); 9] = [
        (
            |it| it.structure.version = Version { major: 2, minor: 0 },
            "its version of DLPack is 2.0",
            "`max_version=(1, 0)`",
        ),
        (
            |it| it.structure.tensor.dtype.code = 0,
            "its elements are int32, and float32 is needed",
            "convert it before",
        ),
        (
            |it| it.structure.tensor.dtype.lanes = 4,
            "float32 with 4 lanes",
            "import it with its own type",
        ),
        (
            |it| it.structure.tensor.device = Device { kind: DlDevice::CUDA, id: 1 },
            "its memory is on CUDA device 1, and platform `host` has the CPU",
            "copy it to a device of the platform",
        ),
        (|it| it.structure.tensor.ndim = 65, "it has 65 dimensions", "reshape it to at most 8"),
        (
            |it| it.structure.tensor.shape = std::ptr::null_mut(),
            "it has no shape",
            "its exporter is wrong",
        ),
        (|it| it.shape[0] = -2, "its shape is [-2, 2]", "its exporter is wrong"),
        (|it| it.shape[0] = i64::MAX, "its number of bytes overflows", ""),
        (|it| it.structure.tensor.byte_offset = 2, "it is not aligned to 4 bytes", "copy it"),
    ];
    for (edit, reason, remedy) in cases {
        let error = refused(edit);
        assert!(error.contains(reason) && error.contains(remedy), "{error}");
    }
    let transposed = theirs(&[2, 2], &[0.0; 4]).with_strides(&[1, 2]).import().unwrap();
    let error = text(platform.import_dlpack::<f32>(transposed, After::Complete));
    assert!(error.contains("[1, 2] for the shape [2, 2]"), "{error}");
    assert!(error.contains("numpy.ascontiguousarray"), "{error}");
    // SAFETY: null is allowed.
    let null = unsafe { DlTensor::from_versioned(std::ptr::null_mut()) };
    assert!(text(null).contains("its pointer is null"));
    // SAFETY: null is allowed.
    let null = unsafe { DlTensor::from_legacy(std::ptr::null_mut()) };
    assert!(text(null).contains("its pointer is null"));
}

#[test]
fn a_read_only_tensor_can_not_be_written() {
    let (_, platform, stream) = bench();
    let read_only = || {
        let mut given = theirs(&[1], &[3.0]);
        given.structure.flags = abi::READ_ONLY;
        platform.import_dlpack::<f32>(given.import().unwrap(), After::Complete).unwrap()
    };
    let error = text(read_only().into_writable());
    assert!(error.contains("READ_ONLY") && error.contains("`into_shared`"), "{error}");
    // Even the only owner of a read-only tensor can't take the tensor out.
    let shared = read_only().into_shared().try_unwrap().unwrap_err();
    assert_eq!(stream.download_blocking(&*shared).unwrap(), [3.0]);
    let writable = theirs(&[1], &[3.0]).import().unwrap();
    let forced = platform.import_dlpack_read_only::<f32>(writable, After::Complete).unwrap();
    assert!(forced.into_writable().is_err());
}

/// Reads an export as an importer would, and calls its deleter. Returns shape, strides, elements and flags.
fn exported(tensor: DlExport) -> (Vec<i64>, Vec<i64>, Vec<f32>, u64) {
    assert!(tensor.is_versioned());
    let raw = tensor.into_raw().cast::<ManagedVersioned>();
    // SAFETY: streamflow has exported the structure and its content is complete; its deleter is called once.
    unsafe {
        let ManagedVersioned { version, flags, tensor, deleter, .. } = raw.read();
        assert_eq!((version, tensor.byte_offset, tensor.device), (VERSION, 0, ON_HOST));
        assert_eq!(tensor.dtype, FLOAT);
        let read = |numbers: *mut i64| {
            std::slice::from_raw_parts(numbers.cast_const(), tensor.ndim as usize).to_vec()
        };
        let (shape, strides) = (read(tensor.shape), read(tensor.strides));
        let count = shape.iter().product::<i64>() as usize;
        let data = match count {
            0 => Vec::new(),
            _ => std::slice::from_raw_parts(tensor.data.cast::<f32>(), count).to_vec(),
        };
        assert!(count == 0 || tensor.data.addr().is_multiple_of(256));
        deleter.unwrap()(raw);
        (shape, strides, data, flags)
    }
}

#[test]
fn an_exported_tensor_has_shape_strides_flags_and_aligned_data() {
    let (_, platform, _) = bench();
    let made = || -> Tensor<f32> {
        platform.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap().reshape([2, 3]).unwrap()
    };
    let whole = made().into_dlpack(Abi::Versioned, Consumer::HostBlocking).unwrap();
    let expected = (vec![2, 3], vec![3, 1], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0);
    assert_eq!(exported(whole), expected);
    let shared = crate::Shared::new(made());
    let read_only = shared.to_dlpack(Abi::Versioned, Consumer::HostBlocking).unwrap();
    assert!(read_only.is_read_only() && !read_only.is_copied());
    assert_eq!(exported(read_only).3, abi::READ_ONLY);
    let error = text(shared.to_dlpack(Abi::Legacy, Consumer::HostBlocking));
    assert!(error.contains("`max_version=(1, 0)`"), "{error}");
    let empty = platform.upload::<f32>(&[]).unwrap();
    let empty = empty.into_dlpack(Abi::Versioned, Consumer::HostBlocking).unwrap();
    assert_eq!((empty.address(), exported(empty).2.len()), (0, 0));
}

#[test]
fn a_tensor_comes_back_by_both_structures() {
    let (_, platform, stream) = bench();
    for abi in [Abi::Versioned, Abi::Legacy] {
        let tensor = platform.upload(&[1_i64, -2, 3]).unwrap();
        let pointer = tensor.into_dlpack(abi, Consumer::HostBlocking).unwrap().into_raw();
        // SAFETY: the pointer was just made, and is the only one to the structure.
        let back = unsafe {
            match abi {
                Abi::Versioned => DlTensor::from_versioned(pointer),
                Abi::Legacy => DlTensor::from_legacy(pointer),
            }
        };
        let back = platform.import_dlpack::<i64>(back.unwrap(), After::Complete).unwrap();
        let back = back.into_writable().unwrap();
        assert_eq!(stream.download_blocking(&back).unwrap(), [1, -2, 3]);
    }
}

/// The deleter makes no call of the driver, because the consumer that calls it may hold any lock, and may be inside of a
/// function that a stream calls.
#[test]
fn the_deleter_of_an_export_only_adds_to_a_list() {
    let (recorder, ..) = bench();
    let options = MemoryOptions { in_flight: 1, small_in_flight: 1, ..MemoryOptions::default() };
    let platform = Platform::builder().memory(options).driver(recorder.clone()).unwrap();
    let stream = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let stream = stream.allocate("a test").unwrap();
    let mut tensor: Tensor<f32> = platform.tensor([4], &stream).unwrap();
    stream.fill_bytes(&mut tensor, 0).unwrap();
    let address = {
        let managed = tensor.into_dlpack(Abi::Versioned, Consumer::QueuesOn(&stream)).unwrap();
        let address = managed.address();
        recorder.clear();
        thread::spawn(move || drop(managed)).join().unwrap();
        address
    };
    assert!(recorder.calls().is_empty(), "{}", recorder.text());
    // The next allocation takes the returned memory back. The memory's next use comes after all work that the device has.
    let mut again = Vec::new();
    let mut waits = 0;
    for _ in 0..3 {
        again.push(platform.tensor::<f32>([4], &stream).unwrap());
        waits = recorder.count(|call| matches!(call, Call::WaitForDevice { .. }));
    }
    assert_eq!(waits, 1, "{}", recorder.text());
    let has_it = again.iter_mut().any(|it| stream.read_raw(it, |found| found).unwrap() == address);
    assert!(has_it, "the memory is used again");
}

/// Memory that other code returns after the drop of the platform is freed.
#[test]
fn an_export_may_outlive_its_platform() {
    let (recorder, platform, stream) = bench();
    let tensor = platform.upload(&[1.0_f32]).unwrap();
    let managed = tensor.into_dlpack(Abi::Versioned, Consumer::HostBlocking).unwrap();
    drop((platform, stream));
    drop(managed);
    let end = Instant::now() + Duration::from_secs(10);
    while Arc::strong_count(&recorder) > 1 && Instant::now() < end {
        thread::yield_now();
    }
    assert_eq!(Arc::strong_count(&recorder), 1, "a reference to the platform leaks");
    let ForeignCounts { leaked, .. } = foreign_counts();
    assert_eq!(leaked, 0);
}

/// Makes a `DLManagedTensor` without context and deleter.
fn legacy(plain: Plain) -> Managed {
    Managed { tensor: plain, context: std::ptr::null_mut(), deleter: None }
}
