//! For which streams a stream's clock has entries: a model of `stream::seen::clock`, by the waits of a log.
//!
//! A clock has room for 8 streams. A stream's entry is at its number modulo 8, and replaces the entry of another stream
//! there. The clock then forgets that other stream: a later wait for it is issued once more.

use std::collections::HashMap;

use streamflow::driver::RawStream;
use streamflow_driver::driver::RawEvent;
use streamflow_tests::layers::mutate::Log;

/// `stream::record::ENTRIES`.
const ENTRIES: usize = 8;

/// The streams that have the entries of a clock, by their numbers.
type Entries = [Option<usize>; ENTRIES];

/// The clocks of all streams.
#[derive(Default)]
pub(crate) struct Remembered {
    clocks: HashMap<RawStream, Entries>,
    /// The stream of each event's latest record, and its clock at that time.
    records: HashMap<RawEvent, (RawStream, Entries)>,
}

impl Remembered {
    /// The clock of `stream` gets an entry for `on`. Returns whether it had one.
    pub(crate) fn raise(&mut self, log: &Log, stream: RawStream, on: RawStream) -> bool {
        let Some(number) = log.number(on) else { return true };
        let entry = &mut self.clocks.entry(stream).or_default()[number % ENTRIES];
        entry.replace(number) == Some(number)
    }

    pub(crate) fn record(&mut self, stream: RawStream, event: RawEvent) {
        let entries = self.clocks.get(&stream).copied().unwrap_or_default();
        self.records.insert(event, (stream, entries));
    }

    /// `stream` waits for the event's record, and for all that this had waited for. Returns whether the clock had an entry
    /// for the stream of the record.
    pub(crate) fn wait(&mut self, log: &Log, stream: RawStream, event: RawEvent) -> bool {
        let Some((on, entries)) = self.records.get(&event).copied() else { return true };
        let had = self.raise(log, stream, on);
        let own = log.number(stream);
        let clock = self.clocks.entry(stream).or_default();
        for (mine, theirs) in clock.iter_mut().zip(entries) {
            if theirs.is_some() && theirs != own {
                *mine = theirs;
            }
        }
        had
    }
}
