//! Tests of the comparison of two calls: which of their parts must be equal, and which may differ.

use crate::driver::replay::Omission;
use crate::driver::replay::trace::{Given, Trace, same_params};
use crate::driver::{
    Access, AccessMode, CopyKind, CopyOp, CopyRows, DeviceId, Launch, MemoryRange, Param, Plain,
    RawEvent, RawFunction, RawStream, RowLevel, Rows, RowsAt,
};

const DEVICE: DeviceId = DeviceId(0);

fn stream(handle: u64) -> RawStream {
    RawStream::new(DEVICE, handle)
}

fn range(address: u64) -> MemoryRange {
    MemoryRange { address, bytes: 64 }
}

fn access(address: u64, mode: AccessMode) -> Access {
    Access { range: range(address), mode, argument: "x", rows: None }
}

/// Whether replay counts two launches as equal.
fn is_same(one: &Launch<'_>, other: &Launch<'_>, left_out: Option<Omission>) -> bool {
    let mut trace = Trace::default();
    trace.push(0, stream(1), Given::Launch(one));
    trace.is_call(0, (0, stream(1)), Given::Launch(other), left_out)
}

#[test]
fn each_part_of_a_launch_counts() {
    let params = [Param::new(1_u64), Param::new(2.0_f32)];
    let accesses = [access(256, AccessMode::Write)];
    let launch = Launch {
        function: RawFunction::new(DEVICE, 3),
        name: "a",
        grid: [4, 1, 1],
        block: [32, 1, 1],
        shared_bytes: 16,
        params: &params,
        accesses: &accesses,
        rows: &[],
    };
    assert!(is_same(&launch, &Launch { name: "b", ..launch }, None));
    let rows = |pitch| Rows::new(8, [RowLevel { count: 4, pitch }]);
    let (near, far) = (rows(16), rows(32));
    let (near, far) = (near.as_slice(), far.as_slice());
    let [one, two] = [[access(512, AccessMode::Write)], [access(256, AccessMode::Read)]];
    let gapped = [Access { rows: Some(RowsAt(0)), ..accesses[0] }];
    let in_rows = Launch { accesses: &gapped, rows: near, ..launch };
    assert!(is_same(&in_rows, &in_rows, None));
    assert!(!is_same(&in_rows, &Launch { rows: far, ..in_rows }, None));
    let value = [params[0], Param::new(2.5_f32)];
    let others = [
        (Launch { function: RawFunction::new(DEVICE, 4), ..launch }, Omission::Kernel),
        (Launch { grid: [5, 1, 1], ..launch }, Omission::Grid),
        (Launch { block: [64, 1, 1], ..launch }, Omission::Grid),
        (Launch { shared_bytes: 0, ..launch }, Omission::Grid),
        (Launch { accesses: &one, ..launch }, Omission::Accesses),
        (Launch { accesses: &two, ..launch }, Omission::Accesses),
        (in_rows, Omission::Accesses),
        (Launch { accesses: &[], ..launch }, Omission::Accesses),
    ];
    // Parameters with other values count as equal, since they can be set in the graph. The number of parameters must be
    // equal.
    assert!(is_same(&launch, &Launch { params: &value, ..launch }, None));
    assert!(!is_same(&launch, &Launch { params: &params[..1], ..launch }, None));
    for (other, rule) in others {
        assert!(!is_same(&launch, &other, None), "{rule:?}: {other:?}");
        assert!(is_same(&launch, &other, Some(rule)), "{rule:?}: {other:?}");
    }
}

/// The bytes of a parameter after its value are zero, whatever the value is.
#[test]
fn unused_bytes_of_parameters_are_zero() {
    fn is_padded<T: Plain>(value: T) {
        let param = Param::new(value);
        let words = param.as_ptr().cast::<u64>();
        // SAFETY: a parameter has 16 bytes, and all of them are initialised.
        let whole = [0, 1].map(|at| unsafe { words.add(at).read() });
        let used = size_of::<T>() * 8;
        let rest = whole[0].checked_shr(used as u32).unwrap_or(0) | whole[1];
        assert_eq!(rest, 0, "{used} bits");
    }
    // The values are made of a byte with no bit set, and of a byte with all bits set.
    for byte in [0_u8, 0xff] {
        is_padded(byte);
        is_padded(u16::from(byte));
        is_padded(f32::from_bits(u32::from(byte) << 24));
        is_padded(-i64::from(byte));
    }
    let [small, large] = [Param::new(7_u32), Param::new(7_u64)];
    assert!(same_params(&[small], &[large]) && !same_params(&[small], &[small, large]));
}

#[test]
fn each_part_of_another_call_counts() {
    let copy =
        CopyOp { kind: CopyKind::DeviceToPinned, target: range(0), source: range(64), rows: None };
    let rows =
        CopyRows { bytes: 8, count: 2, source_pitch: 16, target_pitch: 8, target_is_padded: false };
    let copies = [
        CopyOp { kind: CopyKind::DeviceToDevice, ..copy },
        CopyOp { target: range(128), ..copy },
        CopyOp { source: range(128), ..copy },
        CopyOp { rows: Some(rows), ..copy },
    ];
    let [a, b] = [1, 2].map(|handle| RawEvent::new(DEVICE, handle));
    let calls = [
        Given::Copy(&copy),
        Given::Copy(&copies[0]),
        Given::Copy(&copies[1]),
        Given::Copy(&copies[2]),
        Given::Copy(&copies[3]),
        Given::Fill(range(0), 1),
        Given::Fill(range(0), 2),
        Given::Fill(range(64), 1),
        Given::Recycle(range(0)),
        Given::Recycle(range(64)),
        Given::Record(a, 0),
        Given::Wait(a, 0),
        Given::Wait(a, 1),
    ];
    for (index, call) in calls.iter().enumerate() {
        let mut trace = Trace::default();
        trace.push(0, stream(1), *call);
        for (other, given) in calls.iter().enumerate() {
            assert_eq!(
                trace.is_call(0, (0, stream(1)), *given, None),
                index == other,
                "{call:?} {given:?}"
            );
        }
        assert!(!trace.is_call(0, (0, stream(2)), *call, None), "{call:?}");
        assert!(trace.is_call(0, (0, stream(2)), *call, Some(Omission::Streams)), "{call:?}");
        assert!(!trace.is_call(0, (1, stream(1)), *call, None), "of another node: {call:?}");
        assert!(!trace.is_call(1, (0, stream(1)), *call, None), "{call:?}");
    }
    // A record may be of another event of the ring.
    let mut trace = Trace::default();
    trace.push(0, stream(1), Given::Record(a, 0));
    trace.push(0, stream(2), Given::Wait(a, 0));
    assert!(trace.is_call(0, (0, stream(1)), Given::Record(b, 1), None));
    assert!(trace.is_call(1, (0, stream(2)), Given::Wait(b, 0), None));
}
