//! What a hook returns: any error, kept with its type.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Error;

/// What the hooks of [`Compute`](crate::Compute) return, and a program's own functions: `Result<()>` is
/// `Result<(), Failure>`.
///
/// `?` converts any error to a [`Failure`]. A call of streamflow returns an [`Error`], and its type is part of the
/// documentation of the call.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// Why a hook failed: any error, with its type.
///
/// `?` converts every type that implements [`std::error::Error`] and is `Send`, `Sync` and `'static`.
/// [`downcast_ref`](Self::downcast_ref) gives the error back, and [`source`](StdError::source) follows its causes.
/// [`Failure::msg`] makes a failure of a text.
///
/// ```
/// use streamflow::prelude::*;
///
/// #[operator]
/// struct Counts {
///     #[output] number: u64,
///     text: &'static str,
/// }
///
/// impl Compute for Counts {
///     fn compute(&mut self, io: CountsIo<'_>, _: &ExecutionContext) -> Result<()> {
///         let number: u64 = self.text.parse()?;
///         if number == 0 {
///             return Err(Failure::msg("a count of 0"));
///         }
///         io.number.emit(number)
///     }
/// }
///
/// graph! {
///     struct Reader(text: &'static str) {
///         #[when(count(1))] let counts: Counts = Counts::new(text);
///         counts.number >> _;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let platform = Platform::host().build()?;
/// let Err(error) = Reader::new(&platform, "seven")?.run() else { panic!("it is no number") };
/// assert!(error.find_cause::<std::num::ParseIntError>().is_some());
/// # Ok(())
/// # }
/// ```
///
/// It is not itself a [`std::error::Error`]: Rust would then permit no conversion from every error. It dereferences to
/// the error that it holds. `?` converts it to an [`Error`], and to a `Box<dyn std::error::Error>`.
#[derive(Clone)]
pub struct Failure(Arc<dyn StdError + Send + Sync>);

impl Failure {
    /// A failure of a text.
    #[cold]
    pub fn msg(text: impl fmt::Display) -> Self {
        Self(Arc::new(Text(text.to_string())))
    }

    /// A failure of an error whose type is not known here, as other libraries return it.
    #[cold]
    pub fn from_boxed(error: Box<dyn StdError + Send + Sync>) -> Self {
        Self(error.into())
    }

    /// The error, if it has this type. An [`Error`] of streamflow is found so, too.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    /// The error, and what caused it, to the end.
    fn chain(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> {
        let first: &(dyn StdError + 'static) = &*self.0;
        std::iter::successors(Some(first), |error| (*error).source())
    }
}

/// What `?` converts to a [`Failure`]: every [`std::error::Error`] that is `Send`, `Sync` and `'static`.
///
/// A text is none, and Rust permits no conversion from it beside the one from every error. [`Failure::msg`] makes a
/// failure of it: `read_line().map_err(Failure::msg)?`. A type of your own that is no error implements this
/// trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't become a `Failure`",
    label = "not a `std::error::Error`: implement it; a text takes `.map_err(Failure::msg)?`, \
             a box `.map_err(Failure::from_boxed)?`"
)]
pub trait IntoFailure {
    /// The failure.
    fn into_failure(self) -> Failure;
}

#[diagnostic::do_not_recommend]
impl<E: StdError + Send + Sync + 'static> IntoFailure for E {
    #[cold]
    fn into_failure(self) -> Failure {
        match (&self as &dyn Any).downcast_ref() {
            Some(Error::Other(failure)) => failure.clone(),
            _ => Failure(Arc::new(self)),
        }
    }
}

/// An [`Error::Other`] becomes the failure that it holds.
impl<E: IntoFailure> From<E> for Failure {
    #[cold]
    fn from(error: E) -> Self {
        error.into_failure()
    }
}

/// The error, if the failure holds one of streamflow's; else an [`Error::Other`].
impl From<Failure> for Error {
    #[cold]
    fn from(failure: Failure) -> Self {
        match failure.downcast_ref::<Self>() {
            Some(error) => error.clone(),
            None => Self::Other(failure),
        }
    }
}

impl From<Failure> for Box<dyn StdError + Send + Sync> {
    fn from(failure: Failure) -> Self {
        Box::new(Error::from(failure))
    }
}

impl From<Failure> for Box<dyn StdError> {
    fn from(failure: Failure) -> Self {
        Box::new(Error::from(failure))
    }
}

impl Deref for Failure {
    type Target = dyn StdError + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.0, f)
    }
}

/// The same text as [`Display`](fmt::Display): a `main` that returns a failure prints this form.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Two failures are equal if they hold equal errors of streamflow. Other types of errors can't be compared: such
/// failures are equal if they and their causes have the same texts.
impl PartialEq for Failure {
    fn eq(&self, other: &Self) -> bool {
        match (self.downcast_ref::<Error>(), other.downcast_ref::<Error>()) {
            (Some(one), Some(other)) => one == other,
            (None, None) => {
                self.chain().map(ToString::to_string).eq(other.chain().map(ToString::to_string))
            }
            _ => false,
        }
    }
}

impl Eq for Failure {}

/// The error that [`Failure::msg`] makes.
struct Text(String);

impl StdError for Text {}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use std::io;

    use super::*;
    use crate::driver::{DeviceId, DriverError};

    #[derive(Debug, thiserror::Error)]
    #[error("the lens is dirty")]
    struct Dirty(#[source] io::Error);

    fn dirty(because: &str) -> Failure {
        Dirty(io::Error::other(because.to_owned())).into()
    }

    fn look(how: u8) -> Result<()> {
        match how {
            0 => Err(Dirty(io::Error::other("dust")))?,
            1 => Err(Error::CapacityZero { edge: "a.x >> b.y" })?,
            2 => Err(Error::Other(Failure::msg("a text")))?,
            _ => Err(Failure::from_boxed("a box".into())),
        }
    }

    #[test]
    fn a_failure_keeps_the_type_and_the_causes() {
        let failure = look(0).unwrap_err();
        assert_eq!(failure.downcast_ref::<Dirty>().unwrap().0.to_string(), "dust");
        assert_eq!(failure.source().unwrap().to_string(), "dust");
        assert!(failure.downcast_ref::<io::Error>().is_none());
        let error = look(1).unwrap_err();
        assert_eq!(error.downcast_ref(), Some(&Error::CapacityZero { edge: "a.x >> b.y" }));
        assert_eq!(look(3).unwrap_err().to_string(), "a box");
    }

    #[test]
    fn the_way_to_an_error_and_back_changes_nothing() {
        let failure = Failure::from(Error::from(look(0).unwrap_err()));
        assert!(failure.downcast_ref::<Dirty>().is_some());
        let error = Error::from(look(1).unwrap_err());
        assert_eq!(error, Error::CapacityZero { edge: "a.x >> b.y" });
        let text = look(2).unwrap_err();
        assert!(text.downcast_ref::<Error>().is_none());
        assert_eq!((text.to_string(), format!("{text:?}")), ("a text".into(), "a text".into()));
        let boxed = Box::<dyn StdError>::from(look(0).unwrap_err());
        assert!(boxed.downcast_ref::<Error>().unwrap().find_cause::<Dirty>().is_some());
    }

    #[test]
    fn the_causes_of_an_error_are_found_by_their_type() {
        let (node, hook, tick) = ("rx".to_owned(), "compute", 3);
        let driver = DriverError::OutOfMemory { device: DeviceId(0), requested: 7 };
        let cause = Failure::from(Error::from(driver.clone()));
        let operator = Error::Operator { node, hook, tick, cause };
        let followed = vec![Error::from(look(0).unwrap_err())];
        let run = Error::Run { cause: Box::new(operator), followed };
        assert_eq!(run.find_cause(), Some(&driver));
        assert_eq!(run.find_cause::<Error>(), Some(&run));
        assert!(run.find_cause::<Dirty>().is_none(), "it followed, and is no cause");
    }

    #[test]
    fn failures_are_compared_by_what_they_say() {
        assert_eq!(dirty("dust"), dirty("dust"));
        assert_ne!(dirty("dust"), dirty("fog"));
        let (zero, text) = (Error::CapacityZero { edge: "e" }, Failure::msg("the lens is dirty"));
        assert_eq!(Failure::from(zero.clone()), Failure::from(zero.clone()));
        assert_ne!(Failure::msg(&zero), Failure::from(zero));
        assert_ne!(text, dirty("dust"));
    }

    #[test]
    fn the_result_of_a_hook_is_two_words() {
        assert_eq!(size_of::<Result<()>>(), 2 * size_of::<usize>());
    }
}
