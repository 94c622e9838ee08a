// Names of the user's that the expansions must not meet: blanket traits, constants, and types.
#![allow(dead_code, unused_imports, non_upper_case_globals, non_camel_case_types)]

use streamflow::Message as Debug;
use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;

pub trait Measured: Sized {
    fn io(self) -> u8 {
        1
    }
    fn len(self) -> u8 {
        1
    }
    fn new() -> u8 {
        1
    }
    fn node(self) -> u8 {
        1
    }
    fn get(self) -> u8 {
        1
    }
    fn set(self) -> u8 {
        1
    }
    fn make(self) -> u8 {
        1
    }
    fn param(self) -> u8 {
        1
    }
    fn read(self) -> u8 {
        1
    }
    fn write(self) -> u8 {
        1
    }
    fn scalar(self) -> u8 {
        1
    }
    fn load(self) -> u8 {
        1
    }
    fn extend(self) -> u8 {
        1
    }
    fn reserve(self) -> u8 {
        1
    }
    fn params(self) -> u8 {
        1
    }
    fn stream_pool(self) -> u8 {
        1
    }
    fn has_message(self) -> u8 {
        1
    }
    fn take(self) -> u8 {
        1
    }
    fn field(self) -> u8 {
        1
    }
    fn finish(self) -> u8 {
        1
    }
    fn debug_struct(self) -> u8 {
        1
    }
    fn feedback(self) -> u8 {
        1
    }
}

impl<T> Measured for T {}

pub struct str;
pub struct usize;
pub struct u64;
pub struct bool;

const cx: i8 = 0;
const ports: i8 = 0;
const visit: i8 = 0;
const operator: i8 = 0;
const maker: i8 = 0;
const exchange: i8 = 0;
const f: i8 = 0;
const inlet: i8 = 0;
const messages: i8 = 0;
const args: i8 = 0;
const to: i8 = 0;
const list: i8 = 0;
const made: i8 = 0;

#[derive(Message)]
pub struct Boxes {
    image: Tensor<f32>,
    count: ::core::primitive::u64,
}

#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = gain;")]
fn fill(out: &mut [f32], gain: f32) {
    out.fill(gain);
}

#[operator(streams(work))]
pub struct Detect {
    #[output]
    boxes: Boxes,
    #[param(range = 0.0..=1.0)]
    gain: f32,
}

impl Compute for Detect {
    fn compute(&mut self, io_: DetectIo<'_>, cx_: &ExecutionContext) -> Result<()> {
        let stream = cx_.allocate_cuda_stream(io_.work)?;
        let mut image = cx_.tensor([8], &stream)?;
        stream.launch::<fill>(DeviceSlice::len(&image), (&mut image, self.gain))?;
        io_.boxes.set_cuda_stream(&stream).emit(Boxes { image, count: cx_.tick() })
    }
}

#[operator]
pub struct Draw {
    #[input]
    boxes: &Boxes,
    #[output]
    count: ::core::primitive::u64,
}

impl Compute for Draw {
    fn compute(&mut self, io_: DrawIo<'_>, cx_: &ExecutionContext) -> Result<()> {
        let (boxes, _) = io_.boxes.receive().receive_cuda_stream(cx_)?;
        io_.count.emit(boxes.count)
    }
}

#[operator]
pub struct Last {
    #[input(optional)]
    count: ::core::primitive::u64,
}

impl Compute for Last {
    fn compute(&mut self, io_: LastIo<'_>, _: &ExecutionContext) -> Result<()> {
        io_.count.receive().into_data();
        Ok(())
    }
}

graph! {
    pub struct App(gain: f32) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();
        #[streams(STREAMS)]
        #[when(count(3), periodic(1ms))]
        let detect: Detect = Detect::new(gain);
        #[worker(screen)]
        let draw: Draw = Draw::new();
        #[on_failure(restart(1, 1ms))]
        #[when(message_available(count, 1))]
        let last: Last = Last::new();

        #[capacity(2)]
        detect.boxes >> draw.boxes;
        draw.count >> last.count;
    }
}

fn main() -> Result<()> {
    let host = Platform::host().build()?;
    App::new(&host, 0.5)?.run()?;
    Ok(())
}
