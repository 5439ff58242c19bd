//! What a skill's function may return: `T`, or `Result<T, E>` with several kinds of `E`.
//!
//! `SkillError` is itself an `std::error::Error`, so no trait can be implemented for "anything that becomes a
//! `SkillError`" and for "any other error" without overlap. The expansion knows the concrete type, though, and method
//! look-up prefers the receiver with fewer dereferences: `(&&&&ReturnOf::<R>::NEW).return_kind()` takes the first kind that
//! fits.

use std::any::type_name;
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

/// The kinds of return types, in the order in which they are tried.
pub mod kinds {
    use super::{Error, ReturnOf, SkillError, SkillFailureType, type_name};

    /// `Result<T, E>` where `E` becomes a `SkillError` by itself.
    pub struct Classified;

    /// `Result<T, E>` with any other error.
    pub struct Unclassified;

    /// `Result<T, E>` where `E` is no error.
    pub struct NoError;

    /// Anything else: the output itself.
    pub struct Plain;

    /// Finds [`Classified`].
    pub trait ViaInto {
        /// The kind.
        fn return_kind(&self) -> Classified {
            Classified
        }
    }
    impl<T, E: Into<SkillError>> ViaInto for &&&ReturnOf<Result<T, E>> {}

    /// Finds [`Unclassified`].
    pub trait ViaError {
        /// The kind.
        fn return_kind(&self) -> Unclassified {
            Unclassified
        }
    }
    impl<T, E: Into<Box<dyn Error + Send + Sync>>> ViaError for &&ReturnOf<Result<T, E>> {}

    /// Finds [`NoError`].
    pub trait ViaUnknown {
        /// The kind.
        fn return_kind(&self) -> NoError {
            NoError
        }
    }
    impl<T, E> ViaUnknown for &ReturnOf<Result<T, E>> {}

    /// Finds [`Plain`].
    pub trait ViaPlain {
        /// The kind.
        fn return_kind(&self) -> Plain {
            Plain
        }
    }
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

    impl Unclassified {
        /// The outputs, or `skill_error` with the name of the error's type; the error itself is for the log.
        pub fn convert<T, E: Into<Box<dyn Error + Send + Sync>>>(
            self,
            returned: Result<T, E>,
        ) -> Result<T, SkillError> {
            returned.map_err(|error| SkillError::unclassified(type_name::<E>(), Some(error.into())))
        }
    }

    impl NoError {
        /// Does not compile: see `SkillFailureType`.
        pub fn convert<T, E: SkillFailureType>(self, returned: Result<T, E>) -> Result<T, SkillError> {
            returned.map_err(|_| SkillError::unclassified(type_name::<E>(), None))
        }
    }

    impl Plain {
        /// The outputs.
        pub fn convert<T>(self, returned: T) -> Result<T, SkillError> {
            Ok(returned)
        }
    }
}
