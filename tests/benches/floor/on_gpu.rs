//! The table on a machine with a GPU: streamflow in turns with the programs wired by hand in CUDA C++.

use indicatif::ProgressBar;
use streamflow::prelude::*;
use streamflow_tests::floor::Layout;
use streamflow_tests::foreign::floor::Floor;

use crate::company::Company;
use crate::cpp::Cpp;
use crate::forms::{self, Form};
use crate::table::{self, Row};
use crate::turns::{Size, Times, quantile, ratio, take_turns};
use crate::workloads::{Mode, Workload};

/// `TASKS`: how many tasks a batch runs. `LATE_TASKS`: how many tasks of a turn have their latency measured.
const TASKS: usize = 2_500;
const LATE_TASKS: usize = 500;

/// Makes the tables on a GPU: the compiled programs by hand, the platform of the graphs, and the company in this process.
pub(crate) struct OnGpu {
    pub(crate) floor: Floor,
    pub(crate) platform: Platform,
}

impl OnGpu {
    /// Returns the rows of a workload: measured alone, and then next to the company, if there is one.
    pub(crate) fn rows(
        &self,
        workload: &Workload,
        modes: &[&Mode],
        company: Option<&Company>,
        (turns, ticks): (usize, Option<u64>),
        bar: &ProgressBar,
    ) -> Result<Vec<Row>> {
        let mut list: Vec<Box<dyn Form>> = Vec::new();
        let layouts = layouts(workload, modes);
        for layout in &layouts {
            list.push(Box::new(Cpp::new(self.floor, &self.platform, workload, *layout)?));
        }
        for mode in modes {
            list.push(forms::streamed(&self.platform, workload, mode)?);
        }
        for form in &mut list {
            if form.is_wrong_without_order(77)? == Some(false) {
                let (form, name) = (form.name(), &workload.name);
                bar.suspend(|| {
                    eprintln!("{name}, {form}: inconclusive control: the values were right without any wait");
                });
            }
        }
        let by_size =
            |tasks: usize, least, most| ((tasks / workload.operators()) as u64).clamp(least, most);
        let size = Size {
            turns,
            ticks: ticks.unwrap_or_else(|| by_size(TASKS, 10, 200)),
            latencies: if workload.has_kernels() { by_size(LATE_TASKS, 2, 12) } else { 0 },
            check: true,
        };
        // For each form, the index of the program by hand that it is compared with.
        let peers: Vec<usize> = (0..list.len())
            .map(|index| {
                let mode = index.checked_sub(layouts.len()).map(|mode| modes[mode]);
                let peer = mode.map(|mode| peer(workload, mode));
                peer.and_then(|peer| layouts.iter().position(|layout| *layout == peer)).unwrap_or(0)
            })
            .collect();
        let times = take_turns(&mut list, &mut [], size, bar)?;
        for form in list.iter().filter(|_| workload.has_kernels()) {
            // A share of replayed calls below 95 % is explained: the report has the reason for each call that was not
            // replayed.
            let share = table::replayed(&**form);
            if let (Some(report), Some(..95.0)) = (form.replay(), share) {
                let (form, name) = (form.name(), &workload.name);
                bar.suspend(|| eprintln!("{name}, {form}: {report}"));
            }
        }
        let mut rows = table_of(workload, &list, &peers, &times);
        if let Some(company) = company {
            let mut others = company.forms(&self.platform, workload)?;
            let beside = take_turns(&mut list, &mut others, size, bar)?;
            let more = table_of(workload, &list, &peers, &beside);
            let over_alone = |index: usize| {
                let over = |times: &[Times]| ratio(&times[index].host, &times[peers[index]].host);
                (peers[index] != index).then(|| Some(over(&beside)? / over(&times)?)).flatten()
            };
            rows.iter_mut().for_each(|row| row.add(OVER_ALONE, None));
            rows.extend(more.into_iter().enumerate().map(|(index, row)| {
                let mut row = row.beside([company.name.to_owned()]);
                row.add(OVER_ALONE, over_alone(index));
                row
            }));
        }
        Ok(rows)
    }
}

/// The column for the host ratio next to a company, divided by the host ratio alone.
const OVER_ALONE: &str = "over alone";

/// Returns one row per form, from the measured times.
fn table_of(
    workload: &Workload,
    list: &[Box<dyn Form>],
    peers: &[usize],
    times: &[Times],
) -> Vec<Row> {
    let parts = workload.parts() as f64;
    let rows = list.iter().zip(times).enumerate().map(|(index, (form, own))| {
        let peer = peers[index];
        let other = &times[peer];
        let each = |seconds: Option<f64>| seconds.map(|it| it * 1e6 / parts);
        let late = |q| quantile(&own.latency, q).map(|it| it * 1e6);
        let p50 = |latency: &[f64]| quantile(latency, 0.5);
        let quotient = (peer != index).then_some(());
        let numbers = [
            ("host us", each(quantile(&own.host, 0.5))),
            ("wall us", each(quantile(&own.wall, 0.5))),
            ("latency p50", late(0.5)),
            ("latency p99", late(0.99)),
            ("host ratio", quotient.and_then(|()| ratio(&own.host, &other.host))),
            ("wall ratio", quotient.and_then(|()| ratio(&own.wall, &other.wall))),
            ("p50 ratio", quotient.and_then(|()| Some(p50(&own.latency)? / p50(&other.latency)?))),
            ("replayed %", table::replayed(&**form)),
        ];
        let name = quotient.map(|()| list[peer].name());
        let row = Row::new(&workload.name, form.name(), name, &numbers);
        row.beside(table::others(list, peers, index))
    });
    rows.collect()
}

/// Returns the layout of the program by hand that a mode is compared with. A workload's first layout has a stream for
/// each operator, and its last layout has the fewest streams.
fn peer(workload: &Workload, mode: &Mode) -> Layout {
    let [first, .., last] = workload.layouts else { return workload.layouts[0] };
    if mode.is_planned { *last } else { *first }
}

/// Returns the layouts of the programs by hand that the modes are compared with. Without a mode, returns all layouts.
fn layouts(workload: &Workload, modes: &[&Mode]) -> Vec<Layout> {
    let is_peer = |layout: &Layout| modes.iter().any(|mode| peer(workload, mode) == *layout);
    let all = workload.layouts.iter().copied();
    all.filter(|layout| modes.is_empty() || is_peer(layout)).collect()
}
