//! The tensors of a message by name, for code that finds them at run time: the tensors of a struct, and of a
//! `TensorMap`.

use streamflow::memory::{Bool8, Pinned, PitchedTensor};
use streamflow::message::{Description, TensorMap, Value};
use streamflow::prelude::*;
use streamflow_tests::kernels::{add_one, slow_fill};
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_description_has_the_layout_of_each_tensor", described)
        .both("tensors_of_a_message_are_found_by_name", found)
        .both("the_bytes_of_a_tensor_are_used_in_order", bytes)
        .both("a_map_keeps_the_order_and_the_type_of_its_tensors", map)
        .both("a_struct_is_made_of_named_tensors", made)
        .both("a_struct_is_not_made_of_wrong_tensors", not_made)
        .both("a_map_travels_with_its_metadata_and_in_order", travels)
}

#[derive(Debug, Message)]
struct Boxes {
    corners: Tensor<f32>,
    valid: Buffer<Bool8>,
}

#[derive(Debug, Message)]
struct Frame {
    image: PitchedTensor<u8>,
    boxes: Vec<Boxes>,
    mask: Shared<Tensor<u8>>,
    label: String,
    kind: Kind,
}

#[derive(Debug, Message)]
enum Kind {
    Still(Tensor<i64>),
    Video { previous: Tensor<i16>, staged: Pinned<f32> },
}

fn boxes(platform: &Platform, s: &CudaStream, n: usize) -> Result<Boxes> {
    Ok(Boxes { corners: platform.tensor([n, 4], s)?, valid: platform.buffer(n, s)? })
}

fn frame(platform: &Platform, s: &CudaStream) -> Result<Frame> {
    let staged = platform.pinned(device(0), 6)?;
    Ok(Frame {
        image: platform.pitched_tensor([2, 10, 3], s)?,
        boxes: vec![boxes(platform, s, 2)?, boxes(platform, s, 0)?],
        mask: Shared::new(uploaded(platform, &[1_u8, 2, 3], s)?),
        label: "cat".to_owned(),
        kind: Kind::Video { previous: platform.tensor([5], s)?, staged },
    })
}

fn described(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let message = frame(platform, &s)?;
    let description = Description::of(&message);
    let parts = description.parts().iter();
    let found: Vec<String> = parts
        .map(|part| {
            let (dtype, shape, strides) = (part.dtype, part.shape.as_ref(), part.strides.as_ref());
            match (dtype, shape, strides) {
                (Some(dtype), Some(shape), Some(strides)) => {
                    format!("{} {dtype} {shape:?} {strides:?} {}", part.name, part.device.is_some())
                }
                _ => format!("{} {}", part.name, part.ty),
            }
        })
        .collect();
    let wanted = [
        "image uint8 [2, 10, 3] [5120, 512, 1] true",
        "boxes[0].corners float32 [2, 4] [4, 1] true",
        "boxes[0].valid bool [2] [1] true",
        "boxes[1].corners float32 [0, 4] [4, 1] true",
        "boxes[1].valid bool [0] [1] true",
        "mask uint8 [3] [1] true",
        "label String",
        "kind.Video.previous int16 [5] [1] true",
        "kind.Video.staged float32 [6] [1] false",
    ];
    check_equal(found, wanted.map(str::to_owned).to_vec())?;
    let mask = description.part("mask").map(ToString::to_string);
    check_equal(mask, Some(format!("mask: Tensor<uint8> [3] on {}", s.device())))?;
    check(description.part("masks").is_none(), || "a part of another name".into())
}

fn found(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let message = frame(platform, &s)?;
    let tensors = message.tensors();
    let names: Vec<&str> = tensors.iter().map(|(name, _)| name).collect();
    let wanted = [
        "image",
        "boxes[0].corners",
        "boxes[0].valid",
        "boxes[1].corners",
        "boxes[1].valid",
        "mask",
        "kind.Video.previous",
    ];
    check_equal(names, wanted.to_vec())?;
    // The message's description and its tensors have the same names, shapes and types.
    let description = Description::of(&message);
    for (name, tensor) in tensors.iter() {
        let part = description.part(name).ok_or_else(|| Failed::msg(name.to_owned()))?;
        check_equal(part.dtype, Some(tensor.dtype()))?;
        check_equal(part.shape.as_deref(), Some(tensor.shape()))?;
        check_equal(part.strides.as_deref(), Some(&tensor.strides()[..]))?;
        check_equal(part.device, Some(tensor.device()))?;
    }
    let mask = tensors.get("mask")?;
    let typed = mask.downcast_ref::<Tensor<u8>>().ok_or_else(|| Failed::msg("no Tensor<u8>"))?;
    check_equal(s.download_blocking::<u8>(typed)?, vec![1, 2, 3])?;
    check(mask.downcast_ref::<Tensor<i8>>().is_none(), || "u8 as i8".into())?;
    check(mask.downcast_ref::<Buffer<u8>>().is_none(), || "a tensor as a buffer".into())?;
    let text = check_error("masks", tensors.get("masks"), |error| {
        matches!(error, Error::NoTensor { .. })
    })?;
    check_text(
        &text,
        &["`masks` names no tensor", "`image`, `boxes[0].corners`", "`kind.Video.previous`"],
    )
}

fn bytes(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut map = TensorMap::new();
    let mut ones = platform.tensor([100], &s)?;
    s.launch::<slow_fill>(100, (&mut ones, 1.0, 1000))?;
    map.insert("ones", ones);
    let ones = map.get::<Tensor<f32>>("ones")?;
    let any: &dyn streamflow::memory::AnyTensor = ones;
    check_equal((any.bytes().len(), any.item_size()), (400, 4))?;
    let found = s.download_blocking::<u8>(&any.bytes())?;
    check_equal(found, 1.0_f32.to_ne_bytes().repeat(100))?;
    let mut padded: PitchedTensor<u16> = platform.pitched_tensor([3, 5], &s)?;
    let any: &mut dyn streamflow::memory::AnyTensor = &mut padded;
    check_equal(any.bytes().len(), 3 * 512)?;
    s.fill_bytes(&mut any.bytes_mut(), 1)?;
    let row = padded.row(2).ok_or_else(|| Failed::msg("no row"))?;
    check_equal(s.download_blocking::<u16>(&row)?, vec![0x0101; 5])
}

fn map(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut map = TensorMap::new();
    let old = map.insert("image", uploaded(platform, &[1_u8, 2], &s)?);
    check(old.is_none(), || "there was no tensor".into())?;
    map.insert(format!("boxes{}", 1), uploaded(platform, &[1.5_f32], &s)?);
    let old = map.insert("image", uploaded(platform, &[3_i16], &s)?);
    let old = old.ok_or_else(|| Failed::msg("the first image is gone"))?;
    check_equal((old.dtype(), old.shape().to_vec()), ("uint8", vec![2]))?;
    let old =
        old.downcast::<Tensor<f32>>().map(drop).err().ok_or_else(|| Failed::msg("u8 as f32"))?;
    let old = old.downcast::<Tensor<u8>>().map_err(|_| Failed::msg("not u8"))?;
    check_equal(s.download_blocking::<u8>(&old)?, vec![1, 2])?;
    check_equal(
        map.to_string(),
        "image: Tensor<int16> [1] on device 0\nboxes1: Tensor<float32> [1] on device 0".into(),
    )?;
    let text = check_error("u8", map.get::<Tensor<u8>>("image"), |error| {
        matches!(error, Error::NoTensor { .. })
    })?;
    check_text(
        &text,
        &[
            "`image` names no Tensor<u8>",
            "there is `image: Tensor<int16>[1]`, `boxes1: Tensor<float32>[1]`",
        ],
    )?;
    check_error("u8", map.take::<Tensor<u8>>("image"), |_| true)?;
    let image = map.take::<Tensor<i16>>("image")?;
    check_equal(s.download_blocking::<i16>(&image)?, vec![3])?;
    let names: Vec<&str> = map.iter().map(|(name, _)| name).collect();
    check_equal(names, vec!["boxes1"])?;
    let empty = check_error("empty", TensorMap::new().get::<Buffer<u8>>("x"), |_| true)?;
    check_text(&empty, &["`x` names no Buffer<u8>; there is no tensor"])
}

#[derive(Debug, Message)]
struct Pair {
    left: Side,
    right: Shared<Side>,
    count: Buffer<u32>,
}

#[derive(Debug, Message)]
struct Side(Tensor<f32>, PitchedTensor<u8>);

fn pair(platform: &Platform, s: &CudaStream) -> Result<TensorMap> {
    let mut map = TensorMap::new();
    map.insert("right.0", uploaded(platform, &[2.0_f32], s)?);
    map.insert("right.1", platform.pitched_tensor::<u8>([1, 1], s)?);
    map.insert("count", platform.buffer::<u32>(3, s)?);
    map.insert("left.1", platform.pitched_tensor::<u8>([2, 2], s)?);
    map.insert("left.0", uploaded(platform, &[1.0_f32], s)?);
    Ok(map)
}

fn made(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let pair: Pair = pair(platform, &s)?.into_message()?;
    check_equal(s.download_blocking::<f32>(&pair.left.0)?, vec![1.0])?;
    check_equal(s.download_blocking::<f32>(&pair.right.0)?, vec![2.0])?;
    check_equal((pair.left.1.shape(), pair.count.len()), (&[2, 2][..], 3))
}

fn not_made(platform: &Platform) -> Result<(), Failed> {
    fn text<M: Message + std::fmt::Debug>(map: TensorMap) -> Result<String, Failed> {
        check_error("the tensors", map.into_message::<M>(), |error| {
            matches!(error, Error::NoTensor { .. })
        })
    }
    let s = stream(platform)?;
    let mut missing = pair(platform, &s)?;
    missing.take::<Buffer<u32>>("count")?;
    check_text(&text::<Pair>(missing)?, &["`count` names no Buffer<u32>"])?;
    let mut other = pair(platform, &s)?;
    other.insert("left.0", uploaded(platform, &[1.0_f64], &s)?);
    check_text(
        &text::<Pair>(other)?,
        &["`left.0` names no Tensor<f32>", "`left.0: Tensor<float64>[1]`"],
    )?;
    let mut more = pair(platform, &s)?;
    more.insert("middle", uploaded(platform, &[1_u8], &s)?);
    check_text(
        &text::<Pair>(more)?,
        &["`middle` is no field of `Pair`; leave it out", "`left.0`, `left.1`"],
    )?;
    let mut frame = TensorMap::new();
    frame.insert("image", platform.pitched_tensor::<u8>([1, 1], &s)?);
    check_text(
        &text::<Frame>(frame)?,
        &["`boxes` is a Vec<Boxes>, which is made of no tensor by its name"],
    )
}

/// An operator that emits a map with a tensor that a slow kernel writes.
#[operator(streams(work))]
struct Source {
    #[output]
    tensors: TensorMap,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([300], &stream)?;
        stream.launch::<slow_fill>(300, (&mut image, cx.tick() as f32, 20_000))?;
        let mut tensors = TensorMap::new();
        tensors.insert("image", image);
        let tick = Value::Integer(cx.tick() as i64);
        let out = io.tensors.set_cuda_stream(&stream);
        out.emit_with(tensors, |metadata| metadata.set("tick", tick))
    }
}

/// An operator that adds one to the image.
#[operator]
struct Add {
    #[input]
    tensors: TensorMap,
    #[output]
    sums: TensorMap,
}

impl Compute for Add {
    fn compute(&mut self, io: AddIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut tensors, stream) = io.tensors.receive().receive_cuda_stream(cx)?;
        let mut image = tensors.take::<Tensor<f32>>("image")?;
        stream.launch::<add_one>(300, (&mut image,))?;
        tensors.insert("sum", image);
        io.sums.emit(tensors)
    }
}

#[operator]
struct Look {
    #[input]
    tensors: &TensorMap,
    seen: Seen<(Vec<f32>, i64)>,
}

impl Compute for Look {
    fn compute(&mut self, io: LookIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let received = io.tensors.receive();
        let tick = received.metadata().and_then(|metadata| metadata.get("tick").cloned());
        let (tensors, stream) = received.receive_cuda_stream(cx)?;
        let sum = stream.download_blocking::<f32>(tensors.get::<Tensor<f32>>("sum")?)?;
        let tick = if let Some(Value::Integer(tick)) = tick { tick } else { -1 };
        push_seen(&self.seen, (sum, tick));
        Ok(())
    }
}

graph! {
    struct Maps(seen: Seen<(Vec<f32>, i64)>) {
        #[when(count(3))]
        let source: Source = Source::new();
        let add: Add = Add::new();
        let look: Look = Look::new(seen);
        source.tensors >> add.tensors;
        add.sums >> look.tensors;
    }
}

fn travels(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    Maps::new(platform, seen.clone())?.run()?;
    let wanted = [0, 1, 2].map(|tick| (vec![tick as f32 + 1.0; 300], tick));
    check_equal(take(&seen), wanted.to_vec())
}
