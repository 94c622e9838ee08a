//! The error of a hook: any error, kept with its type.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Error;

/// The error of the hooks of [`Compute`](crate::Compute), and of a program's own functions: `Result<()>` is
/// `Result<(), Failure>`.
///
/// `?` converts any error to a [`Failure`]. A call of streamflow returns an [`Error`], and its type is part of the
/// documentation of the call.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// The failure of a hook: any error, with its type.
///
/// `?` converts every type that implements [`std::error::Error`] and is `Send`, `Sync` and `'static`.
/// [`downcast_ref`](Self::downcast_ref) gives the error back, and [`source`](StdError::source) follows its causes.
/// [`Failure::msg`] makes a failure from a text, and [`Failure::context`] adds the action of the program to the text.
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
/// A failure is not itself a [`std::error::Error`]: otherwise Rust would not permit the conversion from every error. A
/// failure dereferences to its error. `?` converts it to an [`Error`], and to a `Box<dyn std::error::Error>`.
#[derive(Clone)]
pub struct Failure(Arc<dyn StdError + Send + Sync>);

impl Failure {
    /// Makes a failure from a text.
    #[cold]
    pub fn msg(text: impl fmt::Display) -> Self {
        Self(Arc::new(Text(text.to_string())))
    }

    /// Returns a function for `map_err`. It makes a failure from the error, with a text that begins with the action of
    /// the program.
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// fn table(path: &str) -> Result<Vec<u8>> {
    ///     Ok(std::fs::read(path).map_err(Failure::context("reading the table"))?)
    /// }
    /// # let failure = table("no/such/file").unwrap_err();
    /// # assert!(failure.to_string().starts_with("reading the table: "), "{failure}");
    /// # assert!(failure.downcast_ref::<std::io::Error>().is_some());
    /// ```
    ///
    /// The text is made only if there is an error, and may be a `format_args!`. The error keeps its type:
    /// [`downcast_ref`](Self::downcast_ref) finds it, and [`source`](StdError::source) returns it.
    pub fn context<E: Into<Self>>(text: impl fmt::Display) -> impl FnOnce(E) -> Self {
        #[cold]
        move |error| {
            let cause = error.into();
            Self(Arc::new(InContext { text: format!("{text}: {cause}"), cause }))
        }
    }

    /// Makes a failure from a boxed error of unknown type, as other libraries return it.
    #[cold]
    pub fn from_boxed(error: Box<dyn StdError + Send + Sync>) -> Self {
        Self(error.into())
    }

    /// The error, if it has this type, also below a [context](Self::context). This finds an [`Error`] of streamflow, too.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        let below = || self.0.downcast_ref::<InContext>()?.cause.downcast_ref();
        self.0.downcast_ref().or_else(below)
    }

    /// The error and its chain of causes.
    fn chain(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> {
        let first: &(dyn StdError + 'static) = &*self.0;
        std::iter::successors(Some(first), |error| (*error).source())
    }
}

/// The errors that `?` converts to a [`Failure`]: every [`std::error::Error`] that is `Send`, `Sync` and `'static`.
///
/// A text is no such error, and Rust permits no conversion from texts beside the one from every error. [`Failure::msg`]
/// makes a failure from a text: `read_line().map_err(Failure::msg)?`. For a type of your own that is no error,
/// implement this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't become a `Failure`",
    label = "not a `std::error::Error`: implement it; a text takes `.map_err(Failure::msg)?`, \
             a box `.map_err(Failure::from_boxed)?`"
)]
pub trait IntoFailure {
    /// Converts the error to a failure.
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

/// An [`Error::Other`] becomes the failure in it.
impl<E: IntoFailure> From<E> for Failure {
    #[cold]
    fn from(error: E) -> Self {
        error.into_failure()
    }
}

/// Returns the error in the failure if it is one of streamflow's; otherwise an [`Error::Other`].
impl From<Failure> for Error {
    #[cold]
    fn from(failure: Failure) -> Self {
        // An error below a context is left there: the context would be lost.
        match failure.0.downcast_ref::<Self>() {
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
        match (self.0.downcast_ref::<Error>(), other.0.downcast_ref::<Error>()) {
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

/// The error that [`Failure::context`] makes.
struct InContext {
    text: String,
    cause: Failure,
}

impl StdError for InContext {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.cause.0)
    }
}

impl fmt::Display for InContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for InContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
