//! The error of a hook: any error, whose type is preserved.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Error;

/// The result type of the hooks of [`Compute`](crate::Compute), and of a program's own functions: `Result<()>` is `Result<(),
/// Failure>`.
///
/// `?` converts any error to a [`Failure`]. Calls of streamflow return an [`Error`] instead, whose variants the documentation of
/// each call lists.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// The failure of a hook: any error, with its type.
///
/// `?` converts every type that implements [`std::error::Error`] and is `Send`, `Sync` and `'static`.
/// [`downcast_ref`](Self::downcast_ref) returns the error with its own type, and [`source`](StdError::source) returns its cause.
/// [`Failure::msg`] makes a failure from a text. [`Failure::context`] puts a text before the error's own, about what the program
/// was doing.
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
/// A failure is not itself a [`std::error::Error`], because Rust would then not permit the conversion from every error. A failure
/// dereferences to its error. `?` also converts a failure to an [`Error`], and to a `Box<dyn std::error::Error>`.
#[derive(Clone)]
pub struct Failure(Arc<dyn StdError + Send + Sync>);

impl Failure {
    /// Makes a failure from a text.
    #[cold]
    pub fn msg(text: impl fmt::Display) -> Self {
        Self(Arc::new(Text(text.to_string())))
    }

    /// Returns a function for `map_err`, which makes a failure from an error. The failure's text is `text`, which says what the
    /// program was doing, followed by the text of the error.
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
    /// The text is formatted only if there is an error, and may be a `format_args!`. The error keeps its type:
    /// [`downcast_ref`](Self::downcast_ref) finds it in the failure, and [`source`](StdError::source) returns it.
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

    /// Returns the error if it has this type, also if it has a [context](Self::context). The type may also be streamflow's
    /// [`Error`].
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        let below = || self.0.downcast_ref::<InContext>()?.cause.downcast_ref();
        self.0.downcast_ref().or_else(below)
    }

    /// Returns the error of this failure, followed by the chain of its causes.
    fn chain(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> {
        let first: &(dyn StdError + 'static) = &*self.0;
        std::iter::successors(Some(first), |error| (*error).source())
    }
}

/// The errors that `?` converts to a [`Failure`]: every [`std::error::Error`] that is `Send`, `Sync` and `'static`.
///
/// A text is no such error, and Rust permits no second conversion, from texts, beside the conversion from every error. So
/// [`Failure::msg`] makes a failure from a text: `read_line().map_err(Failure::msg)?`. For a type of your own that is no error,
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

/// Converts any error to a failure. An [`Error::Other`] becomes the failure that it contains.
impl<E: IntoFailure> From<E> for Failure {
    #[cold]
    fn from(error: E) -> Self {
        error.into_failure()
    }
}

/// Returns the error of the failure if it is one of streamflow's. Any other error becomes an [`Error::Other`].
impl From<Failure> for Error {
    #[cold]
    fn from(failure: Failure) -> Self {
        // If the error has a context, the failure is not replaced by the error, because the context would be lost.
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

/// Two failures with errors of streamflow are equal if these errors are equal. Errors of other types can't be compared, so two
/// failures with such errors are equal if the errors and their causes have the same texts.
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
