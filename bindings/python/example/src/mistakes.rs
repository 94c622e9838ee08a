//! Graphs in which a port's node lacks its condition. Their runs fail with an error that says what to write.

use streamflow::prelude::*;
use streamflow_python::{FromPython, InputPort, OutputPort, ToPython, export};

graph! {
    struct WithoutReady(x: InputPort<Tensor<f32>>, y: OutputPort<Tensor<f32>>) {
        let pushed_x: FromPython<Tensor<f32>> = x.operator();
        #[when(condition(y.room()))]
        let taken_y: ToPython<Tensor<f32>> = y.operator();
        pushed_x.message >> taken_y.message;
    }
}

export! {
    /// A graph with an input without its condition.
    pub class NoReady of WithoutReady {
        inputs { x: Tensor<f32>; }
        outputs { y: Tensor<f32>; }
    }
}

graph! {
    struct WithoutRoom(x: InputPort<Tensor<f32>>, y: OutputPort<Tensor<f32>>) {
        #[when(condition(x.ready()))]
        let pushed_x: FromPython<Tensor<f32>> = x.operator();
        let taken_y: ToPython<Tensor<f32>> = y.operator();
        pushed_x.message >> taken_y.message;
    }
}

export! {
    /// A graph with an output without its condition.
    pub class NoRoom of WithoutRoom {
        inputs { x: Tensor<f32>; }
        outputs { y: Tensor<f32>; }
    }
}
