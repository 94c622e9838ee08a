//! For which streams a stream's clock has entries: a model of `stream::seen::clock`, by the waits of a log.
//!
//! A clock has room for 8 streams. A stream's entry is at its number modulo 8, and replaces the entry of another stream
//! there. The clock then forgets that other stream: a later wait for it is issued once more.

use std::collections::HashMap;

use streamflow::driver::RawStream;
use streamflow_driver::driver::RawEvent;
use streamflow_tests::layers::mutate::Log;

/// The number of entries in a clock, as `stream::record::ENTRIES`.
const ENTRIES: usize = 8;

/// For each entry of a clock, the number of the stream that has it.
type Entries = [Option<usize>; ENTRIES];

/// The clocks of all streams, as this model knows them.
#[derive(Default)]
pub(crate) struct Remembered {
    clocks: HashMap<RawStream, Entries>,
    /// For each event, the stream of its latest record, and that stream's clock at the record.
    records: HashMap<RawEvent, (RawStream, Entries)>,
}

impl Remembered {
    /// Gives the clock of `stream` an entry for `on`. Returns whether it had one already.
    pub(crate) fn raise(&mut self, log: &Log, stream: RawStream, on: RawStream) -> bool {
        let Some(number) = log.number(on) else { return true };
        let entry = &mut self.clocks.entry(stream).or_default()[number % ENTRIES];
        entry.replace(number) == Some(number)
    }

    pub(crate) fn record(&mut self, stream: RawStream, event: RawEvent) {
        let entries = self.clocks.get(&stream).copied().unwrap_or_default();
        self.records.insert(event, (stream, entries));
    }

    /// Lets `stream` wait for the event's record, and so for all that the record's stream had waited for. Returns
    /// whether the clock had an entry for the record's stream.
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
