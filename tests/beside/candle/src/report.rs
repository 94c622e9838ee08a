//! The lines of the program, and whether one of them is a failure.

/// Lines that were printed.
#[derive(Debug, Default)]
pub struct Report {
    failed: Vec<String>,
}

impl Report {
    /// So many are right.
    pub fn line(&mut self, name: &str, right: u64, all: u64) {
        self.told(right == all, format!("{name}: {right} of {all} right"));
    }

    /// Reports a control: so many results are of the memory's earlier content.
    pub fn stale(&mut self, name: &str, stale: u64, all: u64) {
        self.told(stale == all, format!("{name}: {stale} of {all} stale, as they must be"));
    }

    /// So many bytes more are in use.
    pub fn flat(&mut self, name: &str, grown: u64, limit: u64) {
        self.told(
            grown <= limit,
            format!("{name}: grown by {grown} bytes, at most {limit} are right"),
        );
    }

    /// Prints a figure, or the reason why something was left out.
    pub fn text(&mut self, text: &str) {
        println!("{text}");
    }

    fn told(&mut self, is_right: bool, line: String) {
        println!("{line}{}", if is_right { "" } else { " (FAILED)" });
        if !is_right {
            self.failed.push(line);
        }
    }

    /// The lines that are wrong.
    pub fn failed(&self) -> &[String] {
        &self.failed
    }
}
