//! A Python module with graphs of one's own: the Rust side of the programs in `seeds`.
//!
//! Each `graph!` has a node for each port, and `export!` makes a Python class of the graph. `#[streams(none)]` at the node of an
//! output lets that node work on the stream of the message that it receives, since it queues no work of its own.

mod boxes;
mod detections;
mod frames;
mod mistakes;
mod print_tensors;
mod skipped;

use pyo3::prelude::*;
use streamflow::message::TensorMap;
use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_python::{FlushToPython, FromPython, InputPort, OutputPort, ToPython, export};

use crate::boxes::{LabelledBoxes, Remap};
use crate::detections::{Detections, Sum};
use crate::print_tensors::PrintTensors;

graph! {
    /// NVIDIA's CudaStreamPool example. Its two sources, and the operator between them and `rx`, are written in Python.
    struct PoolGraph(
        source1: InputPort<TensorMap>,
        source2: InputPort<TensorMap>,
        processed: InputPort<TensorMap>,
        in1: OutputPort<TensorMap>,
        in2: OutputPort<TensorMap>,
        printed: OutputPort<TensorMap>,
        verbose: bool,
        use_default_stream: bool,
    ) {
        let STREAMS = CudaStreamPool::new()
            .max_size(5)
            .reserved_size(1)
            .use_default_stream(use_default_stream);

        #[streams(STREAMS)] #[when(condition(source1.ready()))]
        let pushed_source1: FromPython<TensorMap> = source1.operator();
        #[streams(STREAMS)] #[when(condition(source2.ready()))]
        let pushed_source2: FromPython<TensorMap> = source2.operator();
        #[streams(none)] #[when(condition(in1.room()))]
        let taken_in1: ToPython<TensorMap> = in1.operator();
        #[streams(none)] #[when(condition(in2.room()))]
        let taken_in2: ToPython<TensorMap> = in2.operator();
        #[streams(STREAMS)] #[when(condition(processed.ready()))]
        let pushed_processed: FromPython<TensorMap> = processed.operator();
        // `stream_done` is Holoscan's `CudaStreamCondition`.
        #[streams(STREAMS)] #[when(stream_done(tensors))]
        let rx: PrintTensors = PrintTensors::new(verbose);
        #[streams(none)] #[when(condition(printed.room()))]
        let taken_printed: ToPython<TensorMap> = printed.operator();

        pushed_source1.message >> taken_in1.message;
        pushed_source2.message >> taken_in2.message;
        pushed_processed.message >> rx.tensors;
        rx.printed >> taken_printed.message;
    }
}

export! {
    /// NVIDIA's CudaStreamPool example: `source1` and `source2` go to `in1` and `in2`, where a Python operator takes
    /// them. The results go to `processed`, and by way of the operator `rx`, which prints them, to `printed`. All
    /// messages are dicts of tensors.
    ///
    /// Parameters
    /// ----------
    /// verbose : bool, optional
    ///     Whether `rx` prints the names and shapes of the tensors.
    /// platform : Platform, optional
    /// use_default_stream : bool, optional
    ///     Whether all operators and ports work on the default stream, in place of streams of the pool.
    pub class CudaStreamApp of PoolGraph {
        inputs { source1: TensorMap; source2: TensorMap; processed: TensorMap; }
        outputs { in1: TensorMap; in2: TensorMap; printed: TensorMap; }
        arguments { verbose: bool = false; }
        use_default_stream;
    }
}

graph! {
    /// A Python operator between two Rust operators. The Python operator may hold messages back, so the node of the port that it
    /// takes from is made by `flush_operator`: it tells the Python operator when the input has ended.
    struct AroundGraph(
        source: InputPort<Tensor<f32>>,
        emitted: InputPort<TensorMap>,
        received: OutputPort<Tensor<f32>>,
        result: OutputPort<TensorMap>,
    ) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1);

        #[streams(STREAMS)] #[when(condition(source.ready()))]
        let pushed_source: FromPython<Tensor<f32>> = source.operator();
        #[streams(none)] #[when(condition(received.room()))]
        let taken_received: FlushToPython<Tensor<f32>> = received.flush_operator();
        #[streams(STREAMS)] #[when(condition(emitted.ready()))]
        let pushed_emitted: FromPython<TensorMap> = emitted.operator();
        #[streams(STREAMS)] #[when(stream_done(tensors))]
        let rx: PrintTensors = PrintTensors::new(false);
        #[streams(none)] #[when(condition(result.room()))]
        let taken_result: ToPython<TensorMap> = result.operator();

        pushed_source.message >> taken_received.message;
        pushed_emitted.message >> rx.tensors;
        rx.printed >> taken_result.message;
    }
}

export! {
    /// A Python operator takes float32 images of shape (rows, columns, 3) from `received`, which are those of `source`,
    /// and pushes a dict of tensors to `emitted`. The dicts arrive at `result` when their work is complete. When
    /// `source` was closed and all its images were taken, `received` ends, and the operator can push what it has held
    /// back.
    pub class AroundPython of AroundGraph {
        inputs { source: Tensor<f32> [_, _, 3], capacity 2; emitted: TensorMap; }
        outputs { received: Tensor<f32>, capacity 2; result: TensorMap; }
    }
}

graph! {
    /// The guide's streams on a green context: the operator has 8 multiprocessors of its own.
    struct GreenGraph(receiver: InputPort<TensorMap>, tensor: OutputPort<TensorMap>) {
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 8]);
        const STREAMS: CudaStreamPool =
            CudaStreamPool::new().reserved_size(1).max_size(5).on(GREEN.context(1));

        #[streams(STREAMS)] #[when(condition(receiver.ready()))]
        let pushed_receiver: FromPython<TensorMap> = receiver.operator();
        #[streams(STREAMS)] #[when(stream_done(tensors))]
        let my_op: PrintTensors = PrintTensors::new(false);
        #[streams(none)] #[when(condition(tensor.room()))]
        let taken_tensor: ToPython<TensorMap> = tensor.operator();

        pushed_receiver.message >> my_op.tensors;
        my_op.printed >> taken_tensor.message;
    }
}

export! {
    /// Passes dicts of tensors from `receiver` to `tensor`, on streams of a green context with 8 multiprocessors.
    pub class OnGreenContext of GreenGraph {
        inputs { receiver: TensorMap; }
        outputs { tensor: TensorMap; }
    }
}

graph! {
    struct DetectionsGraph(detections: InputPort<Detections>, sum: OutputPort<Tensor<f32>>) {
        #[when(condition(detections.ready()))]
        let pushed_detections: FromPython<Detections> = detections.operator();
        let add: Sum = Sum::new();
        #[streams(none)] #[when(condition(sum.room()))]
        let taken_sum: ToPython<Tensor<f32>> = sum.operator();

        pushed_detections.message >> add.detections;
        add.sum >> taken_sum.message;
    }
}

export! {
    /// Takes dicts of the float32 tensors `boxes` and `scores`, of one length, and sends their sum, element by element.
    pub class AddDetections of DetectionsGraph {
        inputs { detections: Detections; }
        outputs { sum: Tensor<f32>; }
    }
}

graph! {
    struct BoxesGraph(labelled: InputPort<LabelledBoxes>, boxes: OutputPort<Tensor<f32>>) {
        #[when(condition(labelled.ready()))]
        let pushed_labelled: FromPython<LabelledBoxes> = labelled.operator();
        let remap: Remap = Remap::new();
        #[streams(none)] #[when(condition(boxes.room()))]
        let taken_boxes: ToPython<Tensor<f32>> = boxes.operator();

        pushed_labelled.message >> remap.labelled;
        remap.boxes >> taken_boxes.message;
    }
}

export! {
    /// Takes dicts of the float32 tensor `boxes`, of shape (1, boxes, 4), and the int32 tensor `label`, which has numbers of
    /// boxes, and sends those boxes.
    pub class RemapBoxes of BoxesGraph {
        inputs { labelled: LabelledBoxes; }
        outputs { boxes: Tensor<f32>; }
    }
}

#[pymodule]
fn seed_graphs(module: &Bound<'_, PyModule>) -> PyResult<()> {
    streamflow_python::add_to(module)?;
    module.add_class::<CudaStreamApp>()?;
    module.add_class::<AroundPython>()?;
    module.add_class::<AddDetections>()?;
    module.add_class::<OnGreenContext>()?;
    module.add_class::<RemapBoxes>()?;
    module.add_class::<skipped::JoinSkipped>()?;
    module.add_class::<frames::PassFrames>()?;
    module.add_class::<mistakes::NoReady>()?;
    module.add_class::<mistakes::NoRoom>()
}
