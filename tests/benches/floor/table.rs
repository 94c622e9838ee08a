//! The rows of the table, their output as text and as JSON, and their medians over several processes.

use std::env;
use std::process::{Command, Stdio};

use indicatif::ProgressBar;
use serde_json::{Map, Value, json};
use streamflow::prelude::*;

use crate::forms::Form;
use crate::turns::quantile;

/// A number in a row, with the name of its column.
pub(crate) type Number = (&'static str, Option<f64>);

/// The company of a form in a process that has nothing but this form and the form that it is compared with.
const ALONE: &str = "alone";

/// A row of the table: one form of a workload, with its numbers.
pub(crate) struct Row {
    pub(crate) workload: String,
    pub(crate) form: String,
    /// The form by whose times the ratios are divided.
    pub(crate) peer: String,
    /// The names of the other graphs and programs in the process.
    pub(crate) company: String,
    pub(crate) numbers: Vec<(String, Option<f64>)>,
}

impl Row {
    pub(crate) fn new(workload: &str, form: &str, peer: Option<&str>, numbers: &[Number]) -> Self {
        Self {
            workload: workload.into(),
            form: form.into(),
            peer: peer.unwrap_or_default().into(),
            company: ALONE.into(),
            numbers: numbers.iter().map(|(name, number)| ((*name).into(), *number)).collect(),
        }
    }

    /// Adds names to the company.
    pub(crate) fn beside(mut self, names: impl IntoIterator<Item = String>) -> Self {
        for name in names {
            self.company = match &*self.company {
                ALONE => format!("beside: {name}"),
                others => format!("{others}, {name}"),
            };
        }
        self
    }

    /// Adds to the company how many workloads were measured in this process before.
    pub(crate) fn after(&mut self, workloads: usize) {
        match workloads {
            0 => {}
            1 => self.company += ", after another workload",
            more => self.company += &format!(", after {more} other workloads"),
        }
    }

    fn is_of(&self, other: &Self) -> bool {
        let key = |row: &Self| [&row.workload, &row.form, &row.company].map(String::clone);
        key(self) == key(other)
    }

    /// Adds a number in a new column.
    pub(crate) fn add(&mut self, column: &str, number: Option<f64>) {
        self.numbers.push((column.into(), number));
    }

    /// Replaces the number in an existing column.
    pub(crate) fn set(&mut self, column: &str, value: f64) {
        self.numbers
            .iter_mut()
            .filter(|(name, _)| name == column)
            .for_each(|it| it.1 = Some(value));
    }

    /// Prints the row as text or JSON. Before the first row, prints the headings.
    #[allow(clippy::print_stdout, reason = "a benchmark")]
    pub(crate) fn print(&self, as_json: bool, is_first: bool) {
        if as_json {
            println!("{}", self.json());
            return;
        }
        let text = |number: Option<f64>| match number {
            None => "-".into(),
            Some(number) if number.abs() < 100.0 => format!("{number:.3}"),
            Some(number) => format!("{number:.0}"),
        };
        if is_first {
            print!("{:<21} {:<15}", "workload", "form");
            self.numbers.iter().for_each(|(name, _)| print!(" {name:>12}"));
            println!("  {:<15} company", "ratios over");
        }
        print!("{:<21} {:<15}", self.workload, self.form);
        self.numbers.iter().for_each(|(_, number)| print!(" {:>12}", text(*number)));
        println!("  {:<15} {}", self.peer, self.company);
    }

    fn json(&self) -> Value {
        let numbers = self.numbers.iter().map(|(name, number)| (name.clone(), json!(number)));
        let numbers: Map<String, Value> = numbers.collect();
        // JSON objects have no order, so the order of the columns is a list of its own.
        let columns: Vec<&String> = self.numbers.iter().map(|(name, _)| name).collect();
        json!({
            "workload": self.workload, "form": self.form, "peer": self.peer, "company": self.company,
            "columns": columns, "numbers": numbers,
        })
    }

    fn from_json(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let number = |column: &Value| {
            let name = column.as_str()?;
            Some((name.to_owned(), value.get("numbers")?.get(name)?.as_f64()))
        };
        let numbers = value.get("columns")?.as_array()?.iter().map(number);
        Some(Self {
            workload: text("workload")?,
            form: text("form")?,
            peer: text("peer")?,
            company: text("company")?,
            numbers: numbers.collect::<Option<_>>()?,
        })
    }
}

/// Returns the names of a form's company: all other forms except the one that it is compared with. For a program by hand,
/// that is the form compared with it, if there is only one. `peers` has, for each form, the index of the program by hand
/// that it is compared with; a program by hand has its own index.
pub(crate) fn others(list: &[Box<dyn Form>], peers: &[usize], index: usize) -> Vec<String> {
    let mut compared = (0..list.len()).filter(|at| *at != index && peers[*at] == index);
    let partner = match (peers[index] == index, compared.next(), compared.next()) {
        (false, ..) => peers[index],
        (true, Some(only), None) => only,
        (true, ..) => index,
    };
    let others = (0..list.len()).filter(|at| *at != index && *at != partner);
    others.map(|at| list[at].name().to_owned()).collect()
}

/// Returns what percentage of the passes of the last batch were replayed. Passes that are too small to gain from replay
/// are not counted.
pub(crate) fn replayed(form: &dyn Form) -> Option<f64> {
    let report = form.replay()?;
    let all = report.replayed + report.sent;
    Some(100.0 * report.replayed as f64 / all.max(1) as f64)
}

/// Runs this program in child processes, one after the other: as many times as asked with each list of arguments. Returns
/// the medians of the rows that they print.
pub(crate) fn of_processes(
    processes: usize,
    lists: &[Vec<String>],
    bar: &ProgressBar,
) -> Result<Vec<Row>> {
    // The rows of all processes, grouped by form.
    let mut forms: Vec<Vec<Row>> = Vec::new();
    for process in 1..=processes {
        for arguments in lists {
            let mut command = Command::new(env::current_exe()?);
            command.args(arguments).arg("--json").stderr(Stdio::inherit());
            let output = command.output()?;
            if !output.status.success() {
                let status = output.status;
                return Err(Failure::msg(format!("process {process} of {processes}: {status}")));
            }
            let text = String::from_utf8_lossy(&output.stdout);
            for row in text.lines().filter_map(Row::from_json) {
                match forms.iter_mut().find(|form| form[0].is_of(&row)) {
                    Some(form) => form.push(row),
                    None => forms.push(vec![row]),
                }
            }
            bar.inc(1);
        }
    }
    let mut names: Vec<String> = Vec::new();
    for form in &forms {
        if !names.contains(&form[0].workload) {
            names.push(form[0].workload.clone());
        }
    }
    // Sorts by workload, in the order of the list of workloads. Within a workload the forms keep their order.
    forms.sort_by_key(|form| names.iter().position(|name| *name == form[0].workload));
    Ok(forms.iter().map(|form| median(form)).collect())
}

/// Returns a row with the median of each number of the given rows.
fn median(form: &[Row]) -> Row {
    let first = &form[0];
    let columns = first.numbers.iter().enumerate();
    let numbers = columns.map(|(place, (name, _))| {
        let all: Vec<f64> = form.iter().filter_map(|row| row.numbers.get(place)?.1).collect();
        (name.clone(), quantile(&all, 0.5))
    });
    let peer = form.iter().map(|row| &row.peer).find(|peer| !peer.is_empty());
    Row {
        workload: first.workload.clone(),
        form: first.form.clone(),
        peer: peer.cloned().unwrap_or_default(),
        company: first.company.clone(),
        numbers: numbers.collect(),
    }
}
