//! A progress bar, for people at a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on stderr over `total` steps; hidden when stderr is no terminal, or there is but one step.
///
/// It disappears when it is dropped, so that an error message stands alone.
pub fn bar(total: u64) -> ProgressBar {
    if total < 2 {
        return ProgressBar::hidden();
    }
    // indicatif draws nothing by itself when stderr is no terminal.
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    // The template is fixed and tested below; without it the default style is as good.
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
