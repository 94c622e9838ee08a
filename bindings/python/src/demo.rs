//! The graph `streamflow.demo.Scale` in the wheel, with which users try the module and tests run it.

use streamflow::prelude::*;

use crate::{FromPython, InputPort, OutputPort, ToPython, export};

/// y = factor * x
#[kernel(map)]
fn scale(y: &mut f32, x: &f32, factor: f32) {
    *y = *x * factor;
}

/// Multiplies each tensor by a factor.
#[operator(map = scale)]
struct ScaleBy {
    #[input]
    x: &Tensor<f32>,
    #[output]
    y: Tensor<f32>,
    #[param(range = -1000.0..=1000.0)]
    factor: f32,
}

graph! {
    struct ScaleGraph(x: InputPort<Tensor<f32>>, y: OutputPort<Tensor<f32>>, factor: f32) {
        #[when(condition(x.ready()))]
        let pushed_x: FromPython<Tensor<f32>> = x.operator();
        let scale: ScaleBy = ScaleBy::new(factor);
        #[when(condition(y.room()))]
        let taken_y: ToPython<Tensor<f32>> = y.operator();

        pushed_x.message >> scale.x;
        scale.y >> taken_y.message;
    }
}

export! {
    /// Multiplies each float32 tensor of `x`, of any shape, by `factor`, and sends it to `y`.
    ///
    /// Parameters
    /// ----------
    /// factor : float, optional
    ///     From -1000 to 1000. The factor can be set while the graph runs.
    /// platform : Platform, optional
    ///     The default platform by default.
    /// use_default_stream : bool, optional
    ///     Whether the streams of the ports are the default stream of the device.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a factor out of its range.
    pub class Scale of ScaleGraph {
        inputs { x: Tensor<f32>; }
        outputs { y: Tensor<f32>; }
        arguments { factor: f32 = 2.0; }
        params { scale.factor, scale.set_factor: f32; }
    }
}
