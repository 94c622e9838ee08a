//! The operators of signals of `streamflow-gpu-math`, against SciPy and NumPy: `references/signals.py` writes the cases.

mod cases;
mod filters;
mod graphs;
mod order;
mod peaks;
mod refused;
mod spectra;
mod values;

use streamflow_tests::Suite;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .values(|suite| {
            suite
                .both("a_filter_of_blocks_is_that_of_one_long_signal", filters::blocks)
                .both("a_filter_between_two_rates_is_that_of_scipy", filters::rates)
                .both("a_filter_has_signals_of_no_samples", filters::empty)
                .both("an_analytic_signal_is_that_of_scipy", spectra::analytic)
                .both("spectra_of_segments_are_those_of_scipy", spectra::forward)
                .both("the_signal_of_changed_spectra_is_that_of_scipy", spectra::inverse)
                .both("the_signal_of_its_own_spectra_is_the_signal", spectra::round_trip)
                .both("spectra_have_signals_of_no_samples", spectra::empty)
                .both("peaks_are_those_of_scipy", peaks::found)
                .both("peaks_of_long_and_many_signals_are_those_of_the_definition", peaks::long)
                .both("a_nan_is_no_peak", peaks::nans)
                .both("values_between_samples_are_those_of_numpy_and_scipy", values::between)
                .both("a_nan_between_samples_gives_a_nan", values::nans)
                .both("axes_in_another_order_are_those_of_numpy", order::transposed)
                .both("elements_at_indices_are_those_of_numpy", order::gathered)
                .both("each_type_of_elements_and_indices_is_taken", order::types)
        })
        .both("an_index_beyond_an_axis_is_the_error_of_a_later_call", order::beyond)
        .both("each_operator_of_signals_works_in_a_graph", graphs::each)
        .both("a_filter_begins_each_run_anew", graphs::runs)
        .plain("operators_of_signals_refuse_wrong_constructors", refused::constructors)
        .both("operators_of_signals_refuse_wrong_messages", refused::messages)
}
