//! The macro that makes a Python class from a graph.

/// Makes a Python class from a [`graph!`](macro@streamflow::graph).
///
/// ```text
/// streamflow_python::export! {
///     /// Multiplies images by a factor.
///     pub class Scale of ScaleGraph {
///         inputs { x: Tensor<f32> [_, _], capacity 8; }
///         outputs { y: Tensor<f32>; }
///         arguments { factor: f32 = 2.0; }
///         params { scale.factor, scale.set_factor: f32; }
///     }
/// }
/// ```
///
/// The parameters of the graph are its inputs, its outputs and its arguments, in this order. An input is an
/// [`InputPort`](crate::InputPort), and an output an [`OutputPort`](crate::OutputPort). The graph has a node for each of them:
///
/// ```text
/// graph! {
///     pub struct ScaleGraph(x: InputPort<Tensor<f32>>, y: OutputPort<Tensor<f32>>, factor: f32) {
///         #[when(condition(x.ready()))]
///         let pushed_x: FromPython<Tensor<f32>> = x.operator();
///         let scale: Scale = Scale::new(factor);
///         #[when(condition(y.room()))]
///         let taken_y: ToPython<Tensor<f32>> = y.operator();
///         pushed_x.message >> scale.image;
///         scale.scaled >> taken_y.message;
///     }
/// }
/// ```
///
/// - The nodes of the ports, and the streams of the ports, are on device 0.
/// - An input may have a shape: `_` stands for any length. A tensor with another shape is refused when it is pushed. A port
///   holds 4 messages, or as many as `capacity` says, which is at least 1.
/// - The arguments are keyword arguments of the class. The class has two more: `platform`, and `use_default_stream`.
///   With `use_default_stream` the streams of the ports are the default stream of the device. If the export ends with
///   `use_default_stream;`, the graph gets this flag as its last argument, of the same name.
/// - A parameter is an attribute of the Python object, which can be set while the graph runs. In the example `scale.factor` reads
///   the parameter of the node `scale`, and `scale.set_factor` sets it. The parameter's range is checked.
///
/// The crate of the graph depends on `pyo3`, too, with the version that this crate has, and adds the classes to its module:
///
/// ```text
/// #[pymodule]
/// fn my_graphs(module: &Bound<'_, PyModule>) -> PyResult<()> {
///     streamflow_python::add_to(module)?;
///     module.add_class::<Scale>()
/// }
/// ```
#[macro_export]
macro_rules! export {
    (
        $(#[doc = $doc:expr])*
        $visibility:vis class $class:ident of $graph:ty {
            inputs { $($input:ident: $in:ty $([$($length:tt),* $(,)?])? $(, capacity $in_capacity:expr)?;)* }
            outputs { $($output:ident: $out:ty $(, capacity $out_capacity:expr)?;)* }
            $(arguments { $($argument:ident: $type:ty = $default:expr;)* })?
            $(params { $($node:ident.$get:ident, $set_node:ident.$set:ident: $value:ty;)* })?
            $(use_default_stream $($on_default:literal)?;)?
        }
    ) => {
        $(#[doc = $doc])*
        #[::pyo3::pyclass(frozen, extends = $crate::Graph)]
        $visibility struct $class {
            params: <$graph as $crate::__private::AnyGraph>::Handle,
        }

        #[::pyo3::pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (*, $($($argument = $default,)*)? platform = None, use_default_stream = false))]
            fn new(
                py: ::pyo3::Python<'_>,
                $($($argument: $type,)*)?
                #[pyo3(from_py_with = $crate::__private::own_or_none)]
                platform: ::core::option::Option<::pyo3::Py<$crate::Platform>>,
                use_default_stream: bool,
            ) -> ::pyo3::PyResult<::pyo3::PyClassInitializer<Self>> {
                #[allow(unused_mut, reason = "a graph may have no ports")]
                let mut maker =
                    $crate::__private::Maker::new(py, stringify!($class), platform, use_default_stream)?;
                $(let $input = maker.input::<$in>(
                    stringify!($input),
                    &[$($($crate::__length!($length)),*)?],
                    $crate::__capacity!($($in_capacity)?),
                )?;)*
                $(let $output = maker.output::<$out>(
                    stringify!($output),
                    $crate::__capacity!($($out_capacity)?),
                )?;)*
                let (graph, params) = maker.finish(move |platform| {
                    $crate::__made!($graph, platform, use_default_stream,
                        ($($input,)* $($output,)* $($($argument,)*)?) $(, default $($on_default)?)?)
                })?;
                Ok(::pyo3::PyClassInitializer::from(graph).add_subclass(Self { params }))
            }

            $(
                #[doc = concat!("The input `", stringify!($input), "`: an Input.")]
                #[getter]
                fn $input(slf: ::pyo3::PyRef<'_, Self>) -> ::pyo3::PyResult<::pyo3::Py<$crate::Input>> {
                    slf.as_super().__input(slf.py(), stringify!($input))
                }
            )*

            $(
                #[doc = concat!("The output `", stringify!($output), "`: an Output.")]
                #[getter]
                fn $output(slf: ::pyo3::PyRef<'_, Self>) -> ::pyo3::PyResult<::pyo3::Py<$crate::Output>> {
                    slf.as_super().__output(slf.py(), stringify!($output))
                }
            )*

            $($(
                #[doc = concat!("The parameter `", stringify!($get), "` of the node `", stringify!($node), "`.")]
                #[getter]
                fn $get(&self) -> $value {
                    self.params.$node().$get()
                }

                #[setter]
                fn $set(&self, value: $value) -> ::pyo3::PyResult<()> {
                    $crate::__private::or_raise(self.params.$set_node().$set(value))
                }
            )*)?
        }
    };
}

/// Parses a length in the shape of an input: `_` or a number.
#[doc(hidden)]
#[macro_export]
macro_rules! __length {
    (_) => {
        None
    };
    ($length:expr) => {
        Some($length)
    };
}

/// Parses the capacity of a port, which may be missing.
#[doc(hidden)]
#[macro_export]
macro_rules! __capacity {
    () => {
        None
    };
    ($capacity:expr) => {
        Some($capacity)
    };
}

/// Makes the graph. Passes the argument `use_default_stream` if the export ends with it.
#[doc(hidden)]
#[macro_export]
macro_rules! __made {
    ($graph:ty, $platform:ident, $switch:ident, ($($argument:ident,)*)) => {
        <$graph>::new($platform, $($argument),*)
    };
    ($graph:ty, $platform:ident, $switch:ident, ($($argument:ident,)*), default) => {
        <$graph>::new($platform, $($argument,)* $switch)
    };
}
