//! Counts the driver calls that a tick makes, next to those of the same program wired by hand. Counting needs no GPU. On
//! a GPU, the additional calls are what a tick costs beyond the host's own work.

use std::sync::Arc;

use indicatif::ProgressBar;
use streamflow::prelude::*;
use streamflow_tests::floor::{Layout, Plan};
use streamflow_tests::layers::{Behind, Counts, Null};

use crate::forms;
use crate::table::Row;
use crate::workloads::{Mode, Work, Workload};

/// After this many ticks, each further tick makes the same calls as the tick before.
const WARM_UP: u64 = 300;

/// The number of ticks over which calls are counted.
const TICKS: u64 = 200;

/// A platform whose driver does nothing. Its device appears to be `ticks_behind` ticks behind the host.
pub(crate) struct Calls {
    null: Arc<Null>,
    behind: Arc<Behind>,
    platform: Platform,
    ticks_behind: u64,
}

impl Calls {
    pub(crate) fn new(ticks_behind: u64) -> Result<Self> {
        let below = Platform::builder().race_check(false).host()?;
        let null = Arc::new(Null::new(below.driver().clone()));
        let behind = Arc::new(Behind::new(null.clone()));
        let platform = Platform::builder().race_check(false).driver(behind.clone())?;
        Ok(Self { null, behind, platform, ticks_behind })
    }

    /// Returns the rows of a workload: the number of driver calls in a tick, for the programs by hand and for each mode.
    pub(crate) fn rows(
        &self,
        workload: &Workload,
        modes: &[&Mode],
        bar: &ProgressBar,
    ) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> =
            workload.layouts.iter().map(|layout| by_hand(workload, *layout)).collect();
        let of_a_tick = rows[0].numbers.iter().filter_map(|(_, number)| *number).sum::<f64>();
        for mode in modes {
            let mut form = forms::streamed(&self.platform, workload, mode)?;
            self.behind.set(of_a_tick as u64 * self.ticks_behind);
            let mut run = |ticks| -> Result<Counts> {
                let before = self.behind.counts();
                self.null.off(|| form.batch(1, ticks))?;
                Ok(less(self.behind.counts(), before))
            };
            run(WARM_UP)?;
            // A run of 400 ticks and one of 200 are compared, so calls made once in a run cancel out.
            let (few, many) = (run(TICKS)?, run(2 * TICKS)?);
            rows.push(row(&workload.name, mode.name, less(many, few), TICKS as f64));
            drop(form);
            bar.inc(1);
        }
        Ok(rows)
    }
}

/// Returns how many more calls of each kind the longer run made. The difference may be negative (it wraps) for rare
/// queries, which may happen in the shorter run only.
fn less(many: Counts, few: Counts) -> Counts {
    let less = u64::wrapping_sub;
    Counts {
        launches: less(many.launches, few.launches),
        copies: less(many.copies, few.copies),
        records: less(many.records, few.records),
        waits: less(many.waits, few.waits),
        queries: less(many.queries, few.queries),
        synchronizations: less(many.synchronizations, few.synchronizations),
        binds: less(many.binds, few.binds),
    }
}

/// Returns the driver calls per tick of the program wired by hand.
fn by_hand(workload: &Workload, layout: Layout) -> Row {
    let (name, reads, streams) = match (&workload.work, layout) {
        (Work::Seed(_), _) => ("C++", vec![vec![], vec![], vec![0, 1], vec![2]], vec![0, 1, 2, 3]),
        (Work::Tasks { graph, .. }, Layout::ByTask) => {
            ("C++ by task", graph.reads.clone(), graph.streams(layout))
        }
        (Work::Tasks { graph, .. }, Layout::ByColumn) => {
            ("C++ by column", graph.reads.clone(), graph.streams(layout))
        }
        (Work::Tasks { graph, .. }, Layout::OneStream) => {
            ("C++ one stream", graph.reads.clone(), graph.streams(layout))
        }
    };
    let plan = Plan::new(&reads, streams);
    // In all workloads but the fans, the last task of the graph has no kernel.
    let has_end = !workload.name.starts_with("fan");
    let is_end = |task: usize| has_end && task + 1 == reads.len();
    let launches = match &workload.work {
        Work::Seed(_) => 3,
        Work::Tasks { kernels, .. } => {
            let of = |task: usize, reads: &Vec<usize>| match kernels.any() && !is_end(task) {
                true => kernels.reads(reads.len()).max(1),
                false => 0,
            };
            reads.iter().enumerate().map(|(task, reads)| of(task, reads)).sum()
        }
    };
    let counts = Counts {
        launches: launches as u64,
        copies: u64::from(matches!(workload.work, Work::Seed(_))),
        records: plan.records.iter().filter(|is_recorded| **is_recorded).count() as u64,
        waits: plan.waits.iter().map(Vec::len).sum::<usize>() as u64,
        ..Counts::default()
    };
    row(&workload.name, name, counts, 1.0)
}

fn row(workload: &str, form: &str, counts: Counts, ticks: f64) -> Row {
    let each = |count: u64| Some(count.cast_signed() as f64 / ticks);
    let numbers = [
        ("launches", each(counts.launches)),
        ("copies", each(counts.copies)),
        ("records", each(counts.records)),
        ("waits", each(counts.waits)),
        ("queries", each(counts.queries)),
        ("host waits", each(counts.synchronizations)),
        ("binds", each(counts.binds)),
    ];
    Row::new(workload, form, None, &numbers)
}
