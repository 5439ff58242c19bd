//! Shared values that are built once per process, on first use.
//!
//! - `slot`: one value: who builds it, and who waits for it

#[cfg(feature = "runtime")]
mod slot;
#[cfg(feature = "runtime")]
#[cfg(test)]
mod tests;

use std::any::{Any, TypeId, type_name};
#[cfg(feature = "runtime")]
use std::collections::HashMap;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
#[cfg(feature = "runtime")]
use std::sync::Mutex;

#[cfg(feature = "runtime")]
use self::slot::Slot;
use super::Environment;
use crate::contract::Origin;
use crate::error::SkillError;

/// A shared value; only the functions that build and read it know its type.
type Value = Arc<dyn Any + Send + Sync>;

/// The work of building one.
#[cfg_attr(
    not(feature = "runtime"),
    expect(dead_code, reason = "the runtime builds values")
)]
enum Work {
    /// A future.
    Asynchronous(Pin<Box<dyn Future<Output = Result<Value, SkillError>> + Send>>),
    /// A function that may block.
    Blocking(Box<dyn FnOnce() -> Result<Value, SkillError> + Send>),
}

/// The work of building a `T`.
#[expect(missing_debug_implementations, reason = "only its declaration sees it")]
pub struct Build<T>(Work, PhantomData<T>);

/// What `#[skill_sdk::state]` makes of a function.
pub trait StateBuilder: Sync {
    /// The type of the value.
    fn type_id(&self) -> TypeId;

    /// The name of the type, for people.
    fn type_name(&self) -> &'static str;

    /// Starts to build a value.
    fn build(&self, environment: Environment) -> Build<()>;
}

// Any `T`, so that the only error for a type that cannot be shared is that of the function which builds it.
impl<T: 'static> StateBuilder for fn(Environment) -> Build<T> {
    fn type_id(&self) -> TypeId {
        TypeId::of::<T>()
    }

    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }

    fn build(&self, environment: Environment) -> Build<()> {
        Build(self(environment).0, PhantomData)
    }
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

/// The work of an asynchronous function that builds a `T`.
pub fn state_asynchronous<T: State>(
    work: impl Future<Output = Result<T, SkillError>> + Send + 'static,
) -> Build<T> {
    let work = Box::pin(async move { Ok(Arc::new(work.await?) as Value) });
    Build(Work::Asynchronous(work), PhantomData)
}

/// The work of a function that builds a `T` and may block.
pub fn state_blocking<T: State>(work: impl FnOnce() -> Result<T, SkillError> + Send + 'static) -> Build<T> {
    let work = Box::new(move || Ok(Arc::new(work()?) as Value));
    Build(Work::Blocking(work), PhantomData)
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

    /// The name of the type of its value.
    pub fn type_name(&self) -> &'static str {
        self.builder.type_name()
    }

    /// The type of its value.
    pub fn type_id(&self) -> TypeId {
        self.builder.type_id()
    }
}

debug_fields!(StateDeclaration { origin });

/// The shared values of a server.
#[derive(Clone, Default)]
pub struct States {
    #[cfg(feature = "runtime")]
    slots: HashMap<TypeId, Arc<Slot>>,
}

impl States {
    /// Values that are not built yet. Of two declarations of one type the first is used; a registry reports the second.
    #[cfg(feature = "runtime")]
    pub fn new(declarations: impl IntoIterator<Item = &'static StateDeclaration>) -> Self {
        let mut states = Self::default();
        for declaration in declarations {
            let slot = states.slots.entry(declaration.type_id());
            slot.or_insert_with(|| Arc::new(Slot::Declared(declaration, Mutex::default())));
        }
        states
    }

    /// Without the runtime no value is built.
    #[cfg(not(feature = "runtime"))]
    pub fn new(_: impl IntoIterator<Item = &'static StateDeclaration>) -> Self {
        Self::default()
    }

    /// Sets a value, which replaces the one that would be built.
    #[cfg(feature = "runtime")]
    #[must_use]
    pub fn with<T: State>(mut self, value: T) -> Self {
        let slot = Slot::Given(Arc::new(value));
        self.slots.insert(TypeId::of::<T>(), Arc::new(slot));
        self
    }

    /// The value of type `T`. It is built on first use.
    ///
    /// It is built in a task, so the build goes on when the call that started it times out. An asynchronous build that takes
    /// longer than 10 minutes fails. All callers wait for the same build and share its failure: `state_unavailable`, retryable.
    #[cfg(feature = "runtime")]
    pub(crate) async fn get<T: State>(&self, environment: &Environment) -> Result<Arc<T>, SkillError> {
        let name = type_name::<T>();
        let slot = self.slots.get(&TypeId::of::<T>()).ok_or_else(|| {
            unavailable(
                name,
                "no function marked `#[skill_sdk::state]` that returns it is linked",
            )
        })?;
        let value = slot.get(environment).await?;
        value
            .downcast()
            .map_err(|_| unavailable(name, "it was built with another type"))
    }

    /// Without the runtime no value is built.
    #[cfg(not(feature = "runtime"))]
    #[expect(clippy::unused_async, reason = "the same signature as with feature `runtime`")]
    pub(crate) async fn get<T: State>(&self, _: &Environment) -> Result<Arc<T>, SkillError> {
        Err(unavailable(
            type_name::<T>(),
            "feature `runtime` of skill-sdk is off",
        ))
    }

    /// Builds all values. Returns the types of the values that cannot be built, in alphabetical order.
    #[cfg(feature = "http")]
    pub(crate) async fn unavailable(&self, environment: &Environment) -> Vec<&'static str> {
        let mut names = Vec::new();
        for slot in self.slots.values() {
            let Slot::Declared(declaration, _) = slot.as_ref() else {
                continue;
            };
            if let Err(error) = slot.get(environment).await {
                let name = declaration.type_name();
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
