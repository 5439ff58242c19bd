//! Shared values that are built once per process, on first use.
//!
//! - `slot`: one value, from its declaration to the value; who builds it and who waits

#[cfg(feature = "runtime")]
mod slot;
#[cfg(feature = "runtime")]
#[cfg(test)]
mod tests;

use std::any::{Any, TypeId, type_name};
#[cfg(feature = "runtime")]
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

#[cfg(feature = "runtime")]
use self::slot::Slot;
use super::Environment;
use crate::contract::Origin;
use crate::error::SkillError;

/// A value of a type that only its owner knows.
type Shared = Arc<dyn Any + Send + Sync>;

/// The work of building one.
#[expect(missing_debug_implementations, reason = "only its declaration sees it")]
pub enum Build {
    /// A future.
    Asynchronous(Pin<Box<dyn Future<Output = Result<Shared, SkillError>> + Send>>),
    /// A function that may block.
    Blocking(Box<dyn FnOnce() -> Result<Shared, SkillError> + Send>),
}

/// A function marked `#[skill_sdk::state]`, of whatever type.
pub trait StateBuilder: Send + Sync + 'static {
    /// The type of the value.
    fn type_id(&self) -> TypeId;

    /// The name of the type, for people.
    fn type_name(&self) -> &'static str;

    /// Starts building a value.
    fn build(&self, environment: Environment) -> Build;
}

/// A function and what the engine must know of its type.
pub struct StateFunction<F> {
    function: F,
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
    build: fn(&F, Environment) -> Build,
}

/// A type that can be a shared value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared state",
    label = "not a shared value",
    note = "shared state is used by all calls: it must be `Send + Sync` and own its data"
)]
pub trait State: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> State for T {}

/// An asynchronous function that builds a `T`.
pub const fn state_asynchronous<T, F, Fut>(function: F) -> StateFunction<F>
where
    T: State,
    F: Fn(Environment) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, SkillError>> + Send + 'static,
{
    StateFunction {
        function,
        type_id: TypeId::of::<T>,
        type_name: type_name::<T>,
        build: |function, environment| {
            let built = function(environment);
            Build::Asynchronous(Box::pin(async move { Ok(Arc::new(built.await?) as Shared) }))
        },
    }
}

/// A function that builds a `T` and may block meanwhile.
pub const fn state_blocking<T, F>(function: F) -> StateFunction<F>
where
    T: State,
    F: Fn(Environment) -> Result<T, SkillError> + Clone + Send + Sync + 'static,
{
    StateFunction {
        function,
        type_id: TypeId::of::<T>,
        type_name: type_name::<T>,
        build: |function, environment| {
            let function = function.clone();
            Build::Blocking(Box::new(move || Ok(Arc::new(function(environment)?))))
        },
    }
}

impl<F: Send + Sync + 'static> StateBuilder for StateFunction<F> {
    fn type_id(&self) -> TypeId {
        (self.type_id)()
    }

    fn type_name(&self) -> &'static str {
        (self.type_name)()
    }

    fn build(&self, environment: Environment) -> Build {
        (self.build)(&self.function, environment)
    }
}

impl<F> fmt::Debug for StateFunction<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateFunction").finish_non_exhaustive()
    }
}

/// What `#[skill_sdk::state]` registers.
pub struct StateDeclaration {
    origin: Origin,
    builder: &'static dyn StateBuilder,
}

impl StateDeclaration {
    /// The function `builder`, declared at `origin`.
    pub const fn new(origin: Origin, builder: &'static dyn StateBuilder) -> Self {
        Self { origin, builder }
    }

    /// Where it is declared.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The type of its value, for people.
    pub fn type_name(&self) -> &'static str {
        self.builder.type_name()
    }

    /// The type of its value.
    pub fn type_id(&self) -> TypeId {
        self.builder.type_id()
    }
}

debug_fields!(StateDeclaration { origin });

/// The shared values of a host.
#[derive(Clone, Default)]
pub struct States {
    #[cfg(feature = "runtime")]
    slots: HashMap<TypeId, Arc<Slot>>,
}

impl States {
    /// No value is built yet. Of two declarations of one type the first counts; a registry reports the second.
    #[cfg(feature = "runtime")]
    pub fn new(declarations: impl IntoIterator<Item = &'static StateDeclaration>) -> Self {
        let mut states = Self::default();
        for declaration in declarations {
            let slot = states.slots.entry(declaration.type_id());
            slot.or_insert_with(|| {
                Arc::new(Slot {
                    builder: Some(declaration.builder),
                    ..Slot::default()
                })
            });
        }
        states
    }

    /// Without the runtime nothing is built.
    #[cfg(not(feature = "runtime"))]
    pub fn new(_: impl IntoIterator<Item = &'static StateDeclaration>) -> Self {
        Self::default()
    }

    /// Puts a value in place of the one that would be built.
    #[cfg(feature = "runtime")]
    #[must_use]
    pub fn with<T: State>(mut self, value: T) -> Self {
        let value: Shared = Arc::new(value);
        let slot = Slot {
            value: value.into(),
            ..Slot::default()
        };
        self.slots.insert(TypeId::of::<T>(), Arc::new(slot));
        self
    }

    /// The value of type `T`; it is built when it is not there.
    ///
    /// It is built in a task of its own: a call whose time is up leaves the building to those who come later, and an
    /// asynchronous one that takes longer than ten minutes is given up. All callers wait for it and share the failure if there
    /// is one. The code is `state_unavailable`, retryable.
    #[cfg(feature = "runtime")]
    pub(crate) async fn get<T: State>(&self, environment: &Environment) -> Result<Arc<T>, SkillError> {
        let name = type_name::<T>();
        let slot = self.slots.get(&TypeId::of::<T>()).ok_or_else(|| {
            unavailable(
                name,
                "no function marked `#[skill_sdk::state]` that returns it is linked",
            )
        })?;
        let value = slot.get(name, environment).await?;
        value
            .downcast()
            .map_err(|_| unavailable(name, "it was built with another type"))
    }

    /// Without the runtime nothing is built.
    #[cfg(not(feature = "runtime"))]
    #[expect(clippy::unused_async, reason = "the same signature as with feature `runtime`")]
    pub(crate) async fn get<T: State>(&self, _: &Environment) -> Result<Arc<T>, SkillError> {
        Err(unavailable(
            type_name::<T>(),
            "feature `runtime` of skill-sdk is off",
        ))
    }

    /// Builds what is not built yet; gives the types of the values that cannot be built, in alphabetical order.
    #[cfg(feature = "http")]
    pub(crate) async fn unavailable(&self, environment: &Environment) -> Vec<&'static str> {
        let mut names = Vec::new();
        for slot in self.slots.values() {
            let Some(name) = slot.builder.map(StateBuilder::type_name) else {
                continue;
            };
            if let Err(error) = slot.get(name, environment).await {
                let source = std::error::Error::source(&error).map(tracing::field::display);
                tracing::warn!(state = name, source, "a `#[state]` function cannot be built");
                names.push(name);
            }
        }
        names.sort_unstable();
        names
    }
}

fn unavailable(type_name: &str, why: &str) -> SkillError {
    SkillError::retryable(
        "state_unavailable",
        format!("the state `{type_name}` is not available: {why}"),
    )
}

debug_fields!(States {});
