//! Inputs of one and of many messages. The tests check which stream each input gives, and that this stream comes
//! after the data of all inputs.

use streamflow::context::StreamRef;
use streamflow::prelude::*;
use streamflow::stream::Assign;
use streamflow_tests::Suite;
use streamflow_tests::kernels::slow_copy;

use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{LEN, SLOW, Tx, holds, stream_number};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("two_ports_are_ordered_on_one_stream", two_ports)
        .ordered("messages_of_three_producers_are_ordered", three_producers)
        .ordered("messages_without_a_stream_are_ordered_too", without_streams)
        .ordered("two_sinks_of_a_pool_keep_streams_of_their_own", two_sinks)
        .ordered("a_receiver_without_a_pool_has_streams_of_its_own", own_pool)
}

/// An operator that uses streams as `FormatConverterOp` of Holoscan does.
#[operator]
struct Convert {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Convert {
    fn compute(&mut self, io: ConvertIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([image.len()], &stream)?;
        stream.launch::<slow_copy>(image.len(), (&mut out, image, SLOW / 4))?;
        io.out.emit(out)
    }
}

/// Returns whether a stream meets the assertions of Holoscan's test for a port, and further assertions that
/// Holoscan's test lacks.
fn is_handled(stream: &Stream<'_>, default: &Stream<'_>, streams: &[Option<StreamRef>]) -> bool {
    stream.raw() != default.raw()
        && stream.device() == device(0)
        && matches!(streams, [Some(one)] if !one.is(default) && one.device() == device(0))
}

#[operator]
struct DualRx {
    #[input]
    in1: &Tensor<f32>,
    #[input]
    in2: &Tensor<f32>,
    allocate: bool,
    seen: Seen<bool>,
}

impl Compute for DualRx {
    fn compute(&mut self, io: DualRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let default = cx.default_stream()?;
        let (in1, in2) = (io.in1.receive(), io.in2.receive());
        let named: Vec<_> = in1.streams().collect();
        let also: Vec<_> = in2.streams().collect();
        let ((a, first), (b, second)) = if self.allocate {
            (in1.receive_cuda_stream(cx)?, in2.receive_cuda_stream(cx)?)
        } else {
            (in1.adopt().receive_cuda_stream(cx)?, in2.adopt().receive_cuda_stream(cx)?)
        };
        let tick = cx.tick() as f32;
        let handled = is_handled(&first, &default, &named) && is_handled(&second, &default, &also);
        // Both ports give one stream. Holoscan returns the second port's stream, although that stream does not come
        // after the first port's stream.
        let one = first.raw() == second.raw();
        let adopted = named.first().copied().flatten().is_some_and(|name| name.is(&first));
        // The adopted stream is the first message's stream, which is checked in the first tick. A producer may send on
        // other streams in later ticks.
        let own = if self.allocate { !adopted } else { adopted || cx.tick() > 0 };
        let right = holds(cx, a, &first, tick)? & holds(cx, b, &second, 100.0 + tick)?;
        push_seen(&self.seen, handled && one && own && right);
        Ok(())
    }
}

macro_rules! dual {
    ($name:ident, $($pool:tt)*) => {
        graph! {
            struct $name(own: bool, allocate: bool, seen: Seen<bool>) {
                // Streams are assigned per operator, since the test checks whether the receiver has a stream of its own.
                const STREAMS: CudaStreamPool = CudaStreamPool::new()
                    .max_size(10)
                    .reserved_size(1)
                    .assign(Assign::PerOperator);
                #[streams(STREAMS)] #[when(count(4))]
                let tx1: Tx = Tx::new(0.0, own, SLOW);
                #[streams(STREAMS)] #[when(count(4))]
                let tx2: Tx = Tx::new(100.0, own, SLOW / 2);
                $($pool)*
                let convert1: Convert = Convert::new();
                $($pool)*
                let convert2: Convert = Convert::new();
                #[streams(STREAMS)]
                let rx: DualRx = DualRx::new(allocate, seen);
                tx1.image >> convert1.image;
                tx2.image >> convert2.image;
                convert1.out >> rx.in1;
                convert2.out >> rx.in2;
            }
        }
    };
}

dual!(DualWithPool, #[streams(STREAMS)]);
dual!(DualWithDefaultPools,);

/// Two sources send through two converters to two ports. Each port's stream must be on device 0 and not be the
/// default stream, and `receive_cuda_streams` must give one stream. There are eight combinations: whose streams
/// the sources use, which pool the converters use, and whether the receiver allocates.
fn two_ports(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    for (own, allocate) in [(true, true), (true, false), (false, true), (false, false)] {
        DualWithPool::new(platform, own, allocate, seen.clone())?.run()?;
        DualWithDefaultPools::new(platform, own, allocate, seen.clone())?.run()?;
    }
    Ok(all(&seen) == vec![true; 8 * 4])
}

#[operator]
struct MultiRx {
    #[input(many)]
    images: &Tensor<f32>,
    /// For each edge, whether its message names a stream.
    named: Vec<bool>,
    seen: Seen<(u32, bool)>,
}

impl Compute for MultiRx {
    fn compute(&mut self, io: MultiRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let images = io.images.receive();
        let streams: Vec<_> = images.streams().collect();
        let mut right = streams.iter().map(Option::is_some).eq(self.named.iter().copied());
        let (images, stream) = images.receive_cuda_stream(cx)?;
        right &= images.len() == self.named.len();
        right &= stream.raw() != cx.default_stream()?.raw();
        for (edge, image) in images.enumerate() {
            right &= image.shape() == [LEN];
            // The messages of the input come in the order of its edges.
            right &= holds(cx, image, &stream, 100.0 * edge as f32 + cx.tick() as f32)?;
        }
        push_seen(&self.seen, (stream_number(&stream)?, right));
        Ok(())
    }
}

graph! {
    struct Multi(seen: Seen<(u32, bool)>) {
        #[when(count(10))] let tx1: Tx = Tx::new(0.0, true, 0);
        #[when(count(10))] let tx2: Tx = Tx::new(100.0, true, SLOW / 10);
        #[when(count(10))] let tx3: Tx = Tx::new(200.0, true, SLOW / 20);
        let rx: MultiRx = MultiRx::new(vec![true; 3], seen);
        tx1.image >> rx.images;
        tx2.image >> rx.images;
        tx3.image >> rx.images;
    }
}

/// Three producers send to one port on three streams: three messages in each of ten ticks.
fn three_producers(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Multi::new(platform, seen.clone())?.run()?;
    let seen = all(&seen);
    Ok(seen.len() == 10 && seen.iter().all(|&(_, right)| right))
}

#[operator]
struct SizeFiveRx {
    #[input(size = 5)]
    images: &Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for SizeFiveRx {
    fn compute(&mut self, io: SizeFiveRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let images = io.images.receive();
        let named: Vec<bool> = images.streams().map(|stream| stream.is_some()).collect();
        let (images, stream) = images.receive_cuda_stream(cx)?;
        let mut right = named == [false, true, true, false, true];
        for (edge, image) in images.into_iter().enumerate() {
            right &= holds(cx, image, &stream, 100.0 * edge as f32 + cx.tick() as f32)?;
        }
        push_seen(&self.seen, right);
        Ok(())
    }
}

graph! {
    struct SizeFive(seen: Seen<bool>) {
        #[when(count(10))] let tx1: Tx = Tx::new(0.0, false, SLOW / 10);
        #[when(count(10))] let tx2: Tx = Tx::new(100.0, true, 0);
        #[when(count(10))] let tx3: Tx = Tx::new(200.0, true, SLOW / 10);
        #[when(count(10))] let tx4: Tx = Tx::new(300.0, false, SLOW / 10);
        #[when(count(10))] let tx5: Tx = Tx::new(400.0, true, SLOW / 10);
        let rx: SizeFiveRx = SizeFiveRx::new(seen);
        tx1.image >> rx.images;
        tx2.image >> rx.images;
        tx3.image >> rx.images;
        tx4.image >> rx.images;
        tx5.image >> rx.images;
    }
}

/// Five producers send to a port of size five, two of them without a stream: the receiver gets five answers,
/// three of them with streams. Holoscan does not order the data of those two producers. Here, each message has
/// the point of its last write.
fn without_streams(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    SizeFive::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 10])
}

graph! {
    struct TwoSinks(one: Seen<(u32, bool)>, other: Seen<(u32, bool)>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);
        #[streams(STREAMS)] #[when(count(5))]
        let tx: Tx = Tx::new(0.0, true, SLOW);
        #[streams(STREAMS)]
        let rx1: MultiRx = MultiRx::new(vec![true], one);
        #[streams(STREAMS)]
        let rx2: MultiRx = MultiRx::new(vec![true], other);
        tx.image >> (rx1.images, rx2.images);
    }
}

/// Two sinks that share one pool have two internal streams, and each sink keeps its own in all ticks.
fn two_sinks(platform: &Platform) -> Result<bool> {
    let (one, other) = (Seen::default(), Seen::default());
    TwoSinks::new(platform, one.clone(), other.clone())?.run()?;
    let (one, other) = (all(&one), all(&other));
    let right = one.iter().chain(&other).all(|&(_, right)| right);
    let (Some(&(a, _)), Some(&(b, _))) = (one.first(), other.first()) else { return Ok(false) };
    let same = one.iter().all(|&(n, _)| n == a) && other.iter().all(|&(n, _)| n == b);
    Ok(right && same && a != b && one.len() == 5 && other.len() == 5)
}

#[operator]
struct AllKindsRx {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for AllKindsRx {
    fn compute(&mut self, io: AllKindsRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        let streams: Vec<_> = image.streams().collect();
        let default = cx.default_stream()?;
        let (image, internal) = image.receive_cuda_stream(cx)?;
        let extra = cx.allocate_cuda_stream_named("my_new_stream")?;
        let again = cx.allocate_cuda_stream_named("my_new_stream")?;
        let [Some(upstream)] = streams[..] else {
            push_seen(&self.seen, false);
            return Ok(());
        };
        let distinct = internal.raw() != default.raw()
            && extra.raw() != default.raw()
            && extra.raw() != internal.raw()
            && extra.raw() == again.raw()
            && ![&internal, &default, &extra].into_iter().any(|stream| upstream.is(stream));
        // The data is also right on `extra`, a stream that was not synchronised: the use of the data makes that stream
        // wait.
        let tick = cx.tick() as f32;
        push_seen(&self.seen, distinct && holds(cx, image, &extra, tick)?);
        Ok(())
    }
}

graph! {
    struct DefaultPool(seen: Seen<bool>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5);
        #[streams(STREAMS)] #[when(count(5))]
        let tx: Tx = Tx::new(0.0, true, SLOW);
        let rx: AllKindsRx = AllKindsRx::new(seen);
        tx.image >> rx.image;
    }
}

/// A receiver for which no pool is named has a pool of its own. Its internal stream, the message's stream, a
/// further stream and the default stream are four different streams.
fn own_pool(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    DefaultPool::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 5])
}
