//! Begin with the [tutorial]: from an empty folder to a tested graph, in 15 minutes. After it come the laws of
//! streamflow, a chapter each; a page about [running a graph](running_a_graph); one for those who [come from
//! Holoscan](coming_from_holoscan); and a [glossary].
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
//!
//! Beside the laws: [when a node runs](conditions), [workers and threads](threads), a graph beside asynchronous tasks (`tasks`, with the feature `futures`), [what happens when a tick
//! fails](failures), [replay], [libraries on a stream](libraries) and what can't be forgotten with them, [tensors of other
//! libraries](other_libraries), [a graph as a Python class](graphs_in_python), what [the race checker
//! reports](race_reports), cudarc and candle in one program (`beside_cudarc`, with the feature `cudarc`), host data of other
//! crates (`arrays_and_images`, with the features `image` and `ndarray`), where [the simulator and CUDA](simulator_and_cuda) differ, and [a layer of one's own](a_layer).

#[allow(clippy::test_attr_in_doctest, reason = "`tests/tests/tutorial.rs` runs these tests")]
#[doc = include_str!("tutorial.md")]
pub mod tutorial {}

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

#[doc = include_str!("conditions.md")]
pub mod conditions {}

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

#[doc = include_str!("race_reports.md")]
pub mod race_reports {}

#[doc = include_str!("simulator_and_cuda.md")]
pub mod simulator_and_cuda {}

#[doc = include_str!("a_layer.md")]
pub mod a_layer {}

#[doc = include_str!("a_download_waits.md")]
pub mod a_download_waits {}

#[doc = include_str!("a_run_says_why.md")]
pub mod a_run_says_why {}

#[doc = include_str!("a_seed_repeats_a_run.md")]
pub mod a_seed_repeats_a_run {}

#[doc = include_str!("the_plan_predicts.md")]
pub mod the_plan_predicts {}

#[doc = include_str!("running_a_graph.md")]
pub mod running_a_graph {}

#[doc = include_str!("threads.md")]
pub mod threads {}

#[cfg(feature = "futures")]
#[doc = include_str!("tasks.md")]
pub mod tasks {}

#[doc = include_str!("failures.md")]
pub mod failures {}

#[doc = include_str!("replay.md")]
pub mod replay {}

#[doc = include_str!("libraries.md")]
pub mod libraries {}

#[doc = include_str!("other_libraries.md")]
pub mod other_libraries {}

#[cfg(all(feature = "image", feature = "ndarray"))]
#[doc = include_str!("arrays_and_images.md")]
pub mod arrays_and_images {}

#[cfg(feature = "cudarc")]
#[doc = include_str!("beside_cudarc.md")]
pub mod beside_cudarc {}

#[doc = include_str!("graphs_in_python.md")]
pub mod graphs_in_python {}

#[doc = include_str!("coming_from_holoscan.md")]
pub mod coming_from_holoscan {}

#[doc = include_str!("glossary.md")]
pub mod glossary {}
