//! The forms that the tests run in: the variables that set something for all graphs or platforms. A test that has
//! nothing to show in a form is reported as ignored there, with the reason: [`Suite::except`](crate::Suite::except).

use std::env;

/// A variable of the environment, with the values that make another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `STREAMFLOW_WORKERS=n`: workers run the graphs that set no scheduler.
    Workers,
    /// `STREAMFLOW_REPLAY`: graphs are replayed.
    Replayed,
    /// `STREAMFLOW_REPLAY=always`: each pass becomes a graph, also one that comes for the first time.
    ReplayedAlways,
    /// `STREAMFLOW_ASSIGN=planned:n`: operators share streams.
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

    /// Whether the tests run in this form.
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

    /// Why a test does not run now: the variable, and `reason`.
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
