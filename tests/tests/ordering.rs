//! Laws 7 and 9: data carries its ordering, on both platforms. Each program has a control: without the waits between
//! streams, its data is wrong.

mod old_messages;
mod several_writers;

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow::stream::StreamFlags;
use streamflow_tests::layers::DropWaits;
use streamflow_tests::ordered::{right, without_waits};
use streamflow_tests::{Failed, Suite, check, races};

pub(crate) fn suite() -> Suite {
    let suite = races::ALL
        .iter()
        .fold(Suite::new(), |suite, &(name, program)| suite.ordered(name, program));
    suite
        .both("law7_an_old_message_received_with_a_late_one_is_complete", |platform| {
            right(old_messages::received_with_a_late_one, platform)
        })
        // Fewer seeds than in other controls show the missing dependency, since the host has waited for most of the
        // streams.
        .control_on(
            "law7_an_old_message_received_with_a_late_one_is_complete_control",
            1,
            10,
            |driver| without_waits(old_messages::received_with_a_late_one, driver),
        )
        .both(
            "law7_a_message_written_on_two_streams_and_sent_on_a_third_is_right",
            several_writers::arrives,
        )
        .control(
            "law7_a_message_written_on_two_streams_and_sent_on_a_third_is_right",
            several_writers::arrives_without_the_wait,
        )
        .both("law14_an_early_try_get_never_reads_incomplete_data", |platform| {
            check(old_messages::with_an_early_look(platform)?, || {
                "the download was read before it was written".into()
            })
        })
        .both("blocking_streams_are_ordered_with_the_default_stream", |platform| {
            let seen = barrier(platform.driver().clone(), StreamFlags::Blocking)?;
            check(seen, || "a blocking stream is not ordered with the default stream".into())
        })
        .control("blocking_streams_are_ordered_with_the_default_stream", |driver| {
            barrier(driver, StreamFlags::NonBlocking)
        })
}

/// Checks whether the default stream's implicit barrier alone keeps the order.
fn barrier(
    driver: Arc<dyn streamflow::driver::Driver>,
    flags: StreamFlags,
) -> Result<bool, Failed> {
    let platform = Platform::builder().driver(Arc::new(DropWaits::all(driver)))?;
    races::barrier(&platform, flags)
}
