//! Tests of the order of exports and imports. The recorded calls of the driver show which streams wait for which work.

use super::*;
use crate::device;
use crate::driver::StreamLabel;
use crate::driver::{BorrowedEvent, DeviceId};
use crate::stream::BorrowedStream;

/// The streams that wait for an event, by the recorded calls, one entry for each wait.
fn waiting(recorder: &Recorder) -> Vec<StreamLabel> {
    let is_wait = |call: &&Call| matches!(call, Call::WaitEvent { .. });
    recorder.calls().iter().filter(is_wait).filter_map(Call::stream).collect()
}

/// The stream on which a consumer uses an exported tensor.
enum Consuming {
    Default,
    Handle(u64),
    Unordered,
}

/// Exports a tensor that queued work writes. Returns the streams that the export has made wait.
fn export(on: &Consuming) -> Result<Vec<StreamLabel>, Error> {
    let (recorder, platform, stream) = bench();
    let mut tensor: Tensor<f32> = platform.tensor([4], &stream)?;
    stream.fill_bytes(&mut tensor, 0)?;
    // These streams are those of the consumer. One of them has the handle 3.
    let pool = platform.stream_pool("THEIRS", &CudaStreamPool::new())?;
    let theirs: Vec<_> = (0..4).map(|_| pool.allocate("a consumer")).collect::<Result<_, _>>()?;
    assert!(theirs.iter().any(|it| it.raw().handle() == 3));
    recorder.clear();
    let managed = match *on {
        Consuming::Default => {
            let default = platform.default_stream(device(0))?;
            tensor.into_dlpack(Abi::Versioned, Consumer::QueuesOn(&default))?
        }
        Consuming::Unordered => tensor.into_dlpack(Abi::Versioned, Consumer::Unordered)?,
        Consuming::Handle(handle) => {
            // SAFETY: the handle is that of a stream above, which is alive.
            let borrowed = unsafe { BorrowedStream::new(device(0), handle) };
            let theirs = platform.external_stream(borrowed)?;
            tensor.into_dlpack(Abi::Versioned, Consumer::QueuesOn(&theirs))?
        }
    };
    assert!(!recorder.calls().iter().any(Call::blocks_host), "{}", recorder.text());
    drop(managed);
    Ok(waiting(&recorder))
}

#[test]
fn an_export_orders_the_stream_of_its_consumer_and_does_not_block() {
    let default = vec![StreamLabel::Default(DeviceId::default())];
    assert_eq!(export(&Consuming::Default).unwrap(), default);
    let by_handle = export(&Consuming::Handle(3)).unwrap();
    assert!(matches!(by_handle[..], [StreamLabel::Numbered(_)]), "{by_handle:?}");
    assert_eq!(export(&Consuming::Unordered).unwrap(), []);
}

/// A writable export waits for earlier writes and reads. A read-only export waits only for earlier writes.
#[test]
fn an_export_comes_after_readers_if_it_may_be_written() {
    let (recorder, platform, stream) = bench();
    let pool = platform.stream_pool("OTHERS", &CudaStreamPool::new()).unwrap();
    let [reader, consumer] = [(); 2].map(|()| pool.allocate("a test").unwrap());
    let waits = |is_writable| {
        let tensor = platform.upload(&[1.0_f32, 2.0]).unwrap();
        consumer.download_blocking(&tensor).unwrap();
        let _copy = reader.download(&tensor).unwrap();
        recorder.clear();
        let consumer = Consumer::QueuesOn(&consumer);
        let managed = if is_writable {
            tensor.into_dlpack(Abi::Versioned, consumer)
        } else {
            crate::Shared::new(tensor).to_dlpack(Abi::Versioned, consumer)
        };
        drop(managed.unwrap());
        waiting(&recorder).len()
    };
    assert_eq!((waits(true), waits(false)), (1, 0));
    drop(stream);
}

#[test]
fn the_host_waits_only_if_it_is_the_consumer() {
    let (recorder, platform, stream) = bench();
    let mut tensor: Tensor<f32> = platform.tensor([4], &stream).unwrap();
    stream.fill_bytes(&mut tensor, 0).unwrap();
    recorder.clear();
    let managed = tensor.into_dlpack(Abi::Versioned, Consumer::HostBlocking).unwrap();
    assert_eq!(recorder.count(Call::blocks_host), 1, "{}", recorder.text());
    drop(managed);
}

#[test]
fn an_import_comes_after_a_stream_an_event_or_nothing() {
    let (recorder, platform, stream) = bench();
    let pool = platform.stream_pool("THEIRS", &CudaStreamPool::new()).unwrap();
    let producer = pool.allocate("a producer").unwrap();
    let event = platform.driver().create_event(device(0)).unwrap();
    // SAFETY: the event and the stream are alive.
    unsafe { platform.driver().record_event(event, producer.raw()) }.unwrap();
    // SAFETY: the event is destroyed at the end of the test.
    let borrowed = unsafe { BorrowedEvent::new(device(0), event.handle()) };
    for (after, expected) in
        [(After::QueuedOn(&producer), 1), (After::Event(borrowed), 2), (After::Complete, 0)]
    {
        let managed = theirs(&[2], &[1.0, 2.0]).import().unwrap();
        recorder.clear();
        let tensor = platform.import_dlpack::<f32>(managed, after).unwrap().into_shared();
        let _copy = stream.download(&tensor).unwrap();
        // For `After::Event`, a stream of the platform waits for the event, and then the reader's stream waits for that stream.
        assert_eq!(waiting(&recorder).len(), expected, "{after:?}: {}", recorder.text());
        assert!(!recorder.calls().iter().any(Call::blocks_host), "{}", recorder.text());
    }
    // SAFETY: the event was made above, and is not used again.
    unsafe { platform.driver().destroy_event(event) }.unwrap();
}
