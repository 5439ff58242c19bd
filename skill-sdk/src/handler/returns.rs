//! What a skill's function may return: `T`, or `Result<T, E>` with several kinds of `E`.
//!
//! `SkillError` is itself an `std::error::Error`, so no trait can be implemented for "anything that becomes a
//! `SkillError`" and for "any other error" without overlap. The expansion knows the concrete type, though, and method
//! look-up prefers the receiver with fewer dereferences: `(&&&&&ReturnOf::<R>::NEW).return_kind()` takes the first kind that
//! fits.

use std::error::Error;
use std::marker::PhantomData;

use crate::error::SkillError;

/// Stands for the return type `R`.
pub struct ReturnOf<R>(PhantomData<fn() -> R>);

impl<R> ReturnOf<R> {
    /// The only value.
    pub const NEW: Self = Self(PhantomData);
}

/// A type that can be the error of a skill. Implemented for nothing: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a skill",
    label = "not the error of a skill",
    note = "return `SkillError`, or implement `std::error::Error` for `{Self}` and perhaps derive `skill_sdk::SkillFailure`; it must be `Send + Sync` and own its data"
)]
pub trait SkillFailureType {}

/// A text as the error of a skill. Implemented for nothing: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a skill: a string has no code",
    label = "the caller would never see this text",
    note = "return `SkillError`, and write `SkillError::terminal(\"a_code\", text)` or `.terminal_with(\"a_code\", text)` of `skill_sdk::FailureExt`: the caller sees the code and the text"
)]
pub trait TextFailure {}

/// A boxed error that must stay on its thread. Implemented for nothing: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a skill",
    label = "not `Send` and `Sync`",
    note = "write `Box<dyn std::error::Error + Send + Sync>`, or return `SkillError`"
)]
pub trait SharedFailure {}

/// The kinds of return types, in the order in which they are tried.
#[allow(
    clippy::missing_errors_doc,
    reason = "called by the expansion of `#[skill]` only"
)]
pub mod kinds {
    use std::borrow::Cow;

    use super::{Error, ReturnOf, SharedFailure, SkillError, SkillFailureType, TextFailure};

    /// Declares each kind, and the trait by which it is found.
    macro_rules! kinds {
        ($($(#[$about:meta])* $kind:ident by $via:ident;)*) => {
            $(
                $(#[$about])*
                pub struct $kind;

                #[doc = concat!("Finds [`", stringify!($kind), "`].")]
                pub trait $via {
                    /// The kind.
                    fn return_kind(&self) -> $kind {
                        $kind
                    }
                }
            )*

            /// What the expansion has in scope.
            pub mod prelude {
                $(pub use super::$via as _;)*
            }
        };
    }

    kinds! {
        /// `Result<T, E>` where `E` becomes a `SkillError` by itself.
        Classified by ViaInto;
        /// `Result<T, E>` where `E` is a box of any error: of the standard library, of anyhow, of eyre.
        Boxed by ViaBox;
        /// `Result<T, E>` where `E` is a text.
        Text by ViaText;
        /// `Result<T, E>` where `E` is a box that must stay on its thread.
        Unshared by ViaUnshared;
        /// `Result<T, E>` with any other error.
        Unclassified by ViaError;
        /// `Result<T, E>` where `E` is not an error.
        NoError by ViaUnknown;
        /// Anything else: the output itself.
        Plain by ViaPlain;
    }

    impl<T, E: Into<SkillError>> ViaInto for &&&&ReturnOf<Result<T, E>> {}
    impl<T, E: AsRef<dyn Error + Send + Sync>> ViaBox for &&&ReturnOf<Result<T, E>> {}
    impl<T> ViaText for &&&ReturnOf<Result<T, String>> {}
    impl<T> ViaText for &&&ReturnOf<Result<T, &str>> {}
    impl<T> ViaText for &&&ReturnOf<Result<T, Cow<'_, str>>> {}
    impl<T> ViaUnshared for &&&ReturnOf<Result<T, Box<dyn Error>>> {}
    impl<T> ViaUnshared for &&&ReturnOf<Result<T, Box<dyn Error + Send>>> {}
    impl<T, E: Into<Box<dyn Error + Send + Sync>>> ViaError for &&ReturnOf<Result<T, E>> {}
    impl<T, E> ViaUnknown for &ReturnOf<Result<T, E>> {}
    impl<T> ViaPlain for ReturnOf<T> {}

    impl Classified {
        /// The outputs, or the failure.
        pub fn convert<T, E: Into<SkillError>>(self, returned: Result<T, E>) -> Result<T, SkillError> {
            // A call of `map_err` would be one more function for every skill.
            match returned {
                Ok(outputs) => Ok(outputs),
                Err(error) => Err(error.into()),
            }
        }
    }

    impl Boxed {
        /// The outputs, or the [`SkillError`] in the box; else as [`Unclassified`].
        pub fn convert<T, E>(self, returned: Result<T, E>) -> Result<T, SkillError>
        where
            E: AsRef<dyn Error + Send + Sync> + Into<Box<dyn Error + Send + Sync>>,
        {
            match returned {
                Ok(outputs) => Ok(outputs),
                // Asked before it is a box: the one that anyhow makes hides the type of the error in it.
                Err(error) => match SkillError::of(error.as_ref()) {
                    Ok(failure) => Err(failure),
                    Err(cause) => Err(SkillError::unclassified(cause, error.into())),
                },
            }
        }
    }

    impl Unclassified {
        /// The outputs, or `skill_error`; the error itself is for the log.
        pub fn convert<T, E: Into<Box<dyn Error + Send + Sync>>>(
            self,
            returned: Result<T, E>,
        ) -> Result<T, SkillError> {
            match returned {
                Ok(outputs) => Ok(outputs),
                Err(error) => Err(SkillError::unclassified(None, error.into())),
            }
        }
    }

    impl Text {
        /// Does not compile: see `TextFailure`.
        pub fn convert<T, E: TextFailure>(self, returned: Result<T, E>) -> Result<T, SkillError> {
            returned.map_err(|_| SkillError::crash("no error"))
        }
    }

    impl Unshared {
        /// Does not compile: see `SharedFailure`.
        pub fn convert<T, E: SharedFailure>(self, returned: Result<T, E>) -> Result<T, SkillError> {
            returned.map_err(|_| SkillError::crash("no error"))
        }
    }

    impl NoError {
        /// Does not compile: see `SkillFailureType`.
        pub fn convert<T, E: SkillFailureType>(self, returned: Result<T, E>) -> Result<T, SkillError> {
            returned.map_err(|_| SkillError::crash("no error"))
        }
    }

    impl Plain {
        /// The outputs.
        pub fn convert<T>(self, returned: T) -> Result<T, SkillError> {
            Ok(returned)
        }
    }
}
