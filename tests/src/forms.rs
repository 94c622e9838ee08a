//! The forms in which the tests run. A form is an environment variable that sets something for all graphs or platforms. A
//! test that shows nothing in some form is reported as ignored there, with the reason:
//! [`Suite::except`](crate::Suite::except).

use std::env;

/// An environment variable, with the values that select this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `STREAMFLOW_WORKERS=n`: workers run each graph that does not set a scheduler itself.
    Workers,
    /// `STREAMFLOW_REPLAY`: graphs are replayed.
    Replayed,
    /// `STREAMFLOW_REPLAY=always`: each pass becomes a CUDA graph, even a pass that comes for the first time.
    ReplayedAlways,
    /// `STREAMFLOW_ASSIGN=planned:n`: operators that follow each other share streams.
    Planned,
}

impl Form {
    const fn variable(self) -> &'static str {
        match self {
            Self::Workers => "STREAMFLOW_WORKERS",
            Self::Replayed | Self::ReplayedAlways => "STREAMFLOW_REPLAY",
            Self::Planned => "STREAMFLOW_ASSIGN",
        }
    }

    /// Whether the environment selects this form.
    pub fn is_set(self) -> bool {
        self.value().is_some()
    }

    fn value(self) -> Option<String> {
        let value = env::var(self.variable()).ok()?;
        self.has(&value).then_some(value)
    }

    fn has(self, value: &str) -> bool {
        match self {
            Self::Workers => true,
            Self::Replayed => value != "0",
            Self::ReplayedAlways => value == "always",
            Self::Planned => value.starts_with("planned"),
        }
    }

    /// Returns why a test does not run in this process: the variable's name, and `reason`. Returns `None` if the form is
    /// not selected.
    pub(crate) fn excludes(self, reason: &str) -> Option<String> {
        self.value().map(|value| format!("{}={value}: {reason}", self.variable()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_of_some_forms() {
        let forms = [Form::Workers, Form::Replayed, Form::ReplayedAlways, Form::Planned];
        let of = |value| forms.map(|form| form.has(value));
        assert_eq!(of("2"), [true, true, false, false]);
        assert_eq!(of("0"), [true, false, false, false]);
        assert_eq!(of("always"), [true, true, true, false]);
        assert_eq!(of("planned:2"), [true, true, false, true]);
    }
}
