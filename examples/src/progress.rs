//! A progress bar, shown only if stderr is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Returns a bar on stderr over `total` steps. The bar is hidden if stderr is not a terminal, or if there is
/// only one step.
///
/// The bar disappears when it is dropped, so that an error message is alone on the screen.
pub fn bar(total: u64) -> ProgressBar {
    if total < 2 {
        return ProgressBar::hidden();
    }
    // indicatif draws nothing if stderr is not a terminal.
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    // A test below checks the template. With an invalid template, the default style would be used.
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    bar
}

const TEMPLATE: &str = "{wide_bar} {pos}/{len} {per_sec} {eta}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn one_step_has_no_bar() {
        assert!(bar(1).is_hidden());
        assert!(bar(0).is_hidden());
    }
}
