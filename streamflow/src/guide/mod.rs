//! The questions of those who write a program come first, then what the parts are, then the laws that every program can rely on.
//!
//! **Begin with the [tutorial]:** from an empty folder to a tested graph, in 15 minutes.
//!
//! # How do I …
//!
//! | Question | Page |
//! |---|---|
//! | get host data in, and results out? | [upload and download](upload_and_download) |
//! | run a kernel of my own? | [a kernel](a_kernel) |
//! | send several values as one message? | [several fields](several_fields) |
//! | use a chain of operators in several graphs? | [graphs in graphs](graphs_in_graphs) |
//! | join two branches, by sequence number? | [joining branches](joining_branches) |
//! | keep a slow disk from slowing the graph down? drop frames? | [a slow disk](a_slow_disk) |
//! | work with images: convert, resize, filter, draw? | [images] |
//! | call a CUDA library? | [a library's call](a_library_call), [libraries], [tensors of other libraries](other_libraries) |
//! | change a value while the graph runs? | [a live parameter](a_live_parameter) |
//! | run, pause and stop a graph, and see its log? | [running a graph](running_a_graph) |
//! | handle errors? | [when a tick fails](failures) |
//! | test an operator and a graph? | [testing a graph](testing_a_graph) |
//! | time a graph, and see it? | [measuring] |
//! | choose a GPU, or use several? | [choosing a GPU](choosing_a_gpu) |
//! | deploy a program? | [deploying] |
//! | find out why a graph stands still? | [a stall](a_stall) |
//! | use `ndarray` and `image`, cudarc and candle, or tokio? | [arrays and images](arrays_and_images), [beside cudarc](beside_cudarc), [tasks] |
//! | use a graph from Python? | [a graph as a Python class](graphs_in_python) |
//!
//! # Coming from
//!
//! [Holoscan 4](coming_from_holoscan_4) (with [all its names](holoscan_names)), [Holoscan 5](coming_from_holoscan_5),
//! [GStreamer](coming_from_gstreamer), [FutureSDR](coming_from_futuresdr), [cudarc](coming_from_cudarc), [CuPy](coming_from_cupy).
//!
//! # Concepts
//!
//! - [When a node runs](conditions)
//! - [Workers and threads](threads)
//! - [Replay](replay): a tick whose calls repeat becomes one launch of a CUDA graph
//! - [The simulator beside CUDA](simulator_and_cuda)
//! - [A layer of one's own](a_layer): a driver that counts, logs or refuses calls
//! - [What the race checker reports](race_reports)
//! - [Glossary](glossary)
//!
//! # Laws
//!
//! A law says what a program can rely on, or what it can't do. If the compiler enforces it, the chapter has a program
//! that does not compile, and the output of rustc. Tests compare both with the compiler.
//!
//! | Law | Enforced by |
//! |---|---|
//! | [1. First the message, then its stream](receive_first) | the compiler |
//! | [2. Device data is behind its stream](data_behind_its_stream) | the compiler |
//! | [3. A stream belongs to its tick](a_stream_is_no_value) | the compiler |
//! | [4. A message leaves on the stream that wrote it](a_message_leaves_on_its_stream) | the compiler |
//! | [5. Reading, sharing, taking](reading_sharing_taking) | the compiler |
//! | [6. A graph that fits together](a_graph_that_fits) | the compiler |
//! | [7. Order is carried by data](order_is_carried_by_data) | the compiler and the run |
//! | [8. What a tick sends is sent when it ends](sent_when_the_tick_ends) | the compiler and the run |
//! | [9. Memory is freed after its last use](freed_after_its_last_use) | the compiler and the run |
//! | [10. No fallback is silent](no_silent_fallback) | the compiler and the run |
//! | [11. Every return code is checked](every_code_is_checked) | the run |
//! | [12. The steady state allocates nothing](nothing_is_allocated) | the run |
//! | [13. The simulator is as strict as CUDA](the_simulator_is_strict) | the compiler and the run |
//! | [14. A download is read when it is there](a_download_waits) | the compiler and the run |
//! | [15. A run says why it ended](a_run_says_why) | the run |
//! | [16. A seed repeats a run, threads included](a_seed_repeats_a_run) | the run |
//! | [17. The plan predicts, the claims decide](the_plan_predicts) | the run |

// The modules have the order of the index above: the documentation's sidebar on docs.rs has it, too.

#[allow(clippy::test_attr_in_doctest, reason = "`tests/tests/tutorial.rs` runs these tests")]
#[doc = include_str!("tutorial.md")]
pub mod tutorial {}

// ---- How do I … ----------------------------------------------------------------------------------

#[doc = include_str!("upload_and_download.md")]
pub mod upload_and_download {}

#[doc = include_str!("a_kernel.md")]
pub mod a_kernel {}

#[doc = include_str!("several_fields.md")]
pub mod several_fields {}

#[doc = include_str!("graphs_in_graphs.md")]
pub mod graphs_in_graphs {}

#[doc = include_str!("joining_branches.md")]
pub mod joining_branches {}

#[doc = include_str!("a_slow_disk.md")]
pub mod a_slow_disk {}

#[doc = include_str!("images.md")]
pub mod images {}

#[doc = include_str!("a_library_call.md")]
pub mod a_library_call {}

#[doc = include_str!("libraries.md")]
pub mod libraries {}

#[doc = include_str!("other_libraries.md")]
pub mod other_libraries {}

#[doc = include_str!("a_live_parameter.md")]
pub mod a_live_parameter {}

#[doc = include_str!("running_a_graph.md")]
pub mod running_a_graph {}

#[doc = include_str!("failures.md")]
pub mod failures {}

#[doc = include_str!("testing_a_graph.md")]
pub mod testing_a_graph {}

#[doc = include_str!("measuring.md")]
pub mod measuring {}

#[doc = include_str!("choosing_a_gpu.md")]
pub mod choosing_a_gpu {}

#[doc = include_str!("deploying.md")]
pub mod deploying {}

#[doc = include_str!("a_stall.md")]
pub mod a_stall {}

#[cfg_attr(all(feature = "image", feature = "ndarray"), doc = include_str!("arrays_and_images.md"))]
#[cfg_attr(
    not(all(feature = "image", feature = "ndarray")),
    doc = "Arrays of `ndarray` and images of `image` as host data: this page needs both features."
)]
pub mod arrays_and_images {}

#[cfg_attr(feature = "cudarc", doc = include_str!("beside_cudarc.md"))]
#[cfg_attr(
    not(feature = "cudarc"),
    doc = "Streamflow and cudarc or candle in one program: this page needs the feature `cudarc`."
)]
pub mod beside_cudarc {}

#[cfg_attr(feature = "futures", doc = include_str!("tasks.md"))]
#[cfg_attr(
    not(feature = "futures"),
    doc = "A graph beside asynchronous tasks: this page needs the feature `futures`."
)]
pub mod tasks {}

#[doc = include_str!("graphs_in_python.md")]
pub mod graphs_in_python {}

// ---- Coming from ---------------------------------------------------------------------------------

#[doc = include_str!("coming_from_holoscan_4.md")]
pub mod coming_from_holoscan_4 {}

#[doc = include_str!("holoscan_names.md")]
pub mod holoscan_names {}

#[doc = include_str!("coming_from_holoscan_5.md")]
pub mod coming_from_holoscan_5 {}

#[doc = include_str!("coming_from_gstreamer.md")]
pub mod coming_from_gstreamer {}

#[doc = include_str!("coming_from_futuresdr.md")]
pub mod coming_from_futuresdr {}

#[doc = include_str!("coming_from_cudarc.md")]
pub mod coming_from_cudarc {}

#[doc = include_str!("coming_from_cupy.md")]
pub mod coming_from_cupy {}

// ---- Concepts ------------------------------------------------------------------------------------

#[doc = include_str!("conditions.md")]
pub mod conditions {}

#[doc = include_str!("threads.md")]
pub mod threads {}

#[doc = include_str!("replay.md")]
pub mod replay {}

#[doc = include_str!("simulator_and_cuda.md")]
pub mod simulator_and_cuda {}

#[doc = include_str!("a_layer.md")]
pub mod a_layer {}

#[doc = include_str!("race_reports.md")]
pub mod race_reports {}

#[doc = include_str!("glossary.md")]
pub mod glossary {}

// ---- Laws ----------------------------------------------------------------------------------------

#[doc = include_str!("receive_first.md")]
pub mod receive_first {}

#[doc = include_str!("data_behind_its_stream.md")]
pub mod data_behind_its_stream {}

#[doc = include_str!("a_stream_is_no_value.md")]
pub mod a_stream_is_no_value {}

#[doc = include_str!("a_message_leaves_on_its_stream.md")]
pub mod a_message_leaves_on_its_stream {}

#[doc = include_str!("reading_sharing_taking.md")]
pub mod reading_sharing_taking {}

#[doc = include_str!("a_graph_that_fits.md")]
pub mod a_graph_that_fits {}

#[doc = include_str!("order_is_carried_by_data.md")]
pub mod order_is_carried_by_data {}

#[doc = include_str!("sent_when_the_tick_ends.md")]
pub mod sent_when_the_tick_ends {}

#[doc = include_str!("freed_after_its_last_use.md")]
pub mod freed_after_its_last_use {}

#[doc = include_str!("no_silent_fallback.md")]
pub mod no_silent_fallback {}

#[doc = include_str!("every_code_is_checked.md")]
pub mod every_code_is_checked {}

#[doc = include_str!("nothing_is_allocated.md")]
pub mod nothing_is_allocated {}

#[doc = include_str!("the_simulator_is_strict.md")]
pub mod the_simulator_is_strict {}

#[doc = include_str!("a_download_waits.md")]
pub mod a_download_waits {}

#[doc = include_str!("a_run_says_why.md")]
pub mod a_run_says_why {}

#[doc = include_str!("a_seed_repeats_a_run.md")]
pub mod a_seed_repeats_a_run {}

#[doc = include_str!("the_plan_predicts.md")]
pub mod the_plan_predicts {}
