//! Asking the user who stands behind a call.
//!
//! [`SkillContext::ask`] sends a form to the user and gives what was filled in. Only MCP has a way to do that, in two
//! forms: up to revision 2025-11-25 the host sends a request and the call waits; from 2026-07-28 on the call ends with
//! the questions, and the client calls again with the answers. In that case **the skill runs again from its start**, and
//! the questions that are answered give their answers at once. So ask first and act afterwards: whatever happens
//! before the last question happens once for each round.

mod answer;
mod blocking;
mod form;
mod request;
#[cfg(feature = "runtime")]
#[cfg(test)]
mod tests;

use std::future::Future;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use self::answer::Answer;
pub use self::request::{InputKind, InputRequest};
use super::SkillContext;
use crate::contract::schema;
use crate::error::SkillError;

/// A future that a channel gives.
pub(crate) type Responding<'a> = Pin<Box<dyn Future<Output = Result<Value, SkillError>> + Send + 'a>>;

/// How a server reaches the user of a call.
pub(crate) trait InputChannel: Send + Sync {
    /// Whether the other side answers requests of this kind.
    fn supports(&self, kind: InputKind) -> bool;

    /// Sends one request and waits for what the other side gives. It is called only for kinds that are supported.
    ///
    /// A form's answer is `{"action": "accept" | "decline" | "cancel", "content"?: object}`. A future that never ends
    /// is allowed: the host then ends the call in another way.
    fn request<'a>(&'a self, name: &'a str, request: InputRequest) -> Responding<'a>;
}

impl SkillContext {
    /// Whether [`ask`](Self::ask) can reach somebody.
    pub fn can_ask(&self) -> bool {
        self.can_request(InputKind::Form)
    }

    /// Whether the caller answers requests of this kind.
    pub fn can_request(&self, kind: InputKind) -> bool {
        let input = self.0.meta.input.as_ref();
        input.is_some_and(|input| input.supports(kind))
    }

    /// Asks the user to fill in a form with the fields of `T`.
    ///
    /// `name` tells the questions of one skill apart; a question that is asked again under the same name may give the
    /// same answer again. `T` is a struct of texts, numbers, booleans, enums without data, and lists of such enums; its
    /// doc comments are shown to the user.
    ///
    /// The time that the user takes counts towards the contract's timeout, where the call waits for it.
    ///
    /// ```
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    /// use skill_sdk::{SkillContext, SkillError, skill};
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Confirmation {
    ///     /// Really delete it?
    ///     sure: bool,
    /// }
    ///
    /// /// Deletes a branch, after asking.
    /// #[skill("git.delete", version = "1", side_effects = "external_write", risk = "high")]
    /// async fn delete(branch: String, ctx: &SkillContext) -> Result<bool, SkillError> {
    ///     let question = format!("Delete {branch}?");
    ///     let answer = ctx.ask::<Confirmation>("confirm", question).await?;
    ///     // … and only now act.
    ///     Ok(answer.accepted()?.sure)
    /// }
    /// # let call = skill_sdk::testing::invoke(delete::SKILL, serde_json::json!({"branch": "b"}));
    /// # let outputs = call.answer("confirm", serde_json::json!({"sure": true})).blocking()?.outputs;
    /// # assert_eq!(outputs["result"], true);
    /// # Ok::<(), SkillError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `input_not_supported` where nobody can be asked, `input_form_unsupported` when `T` is no such struct,
    /// `input_invalid` when the answer does not fit `T`; none of these is retryable. The retryable `input_unanswered` when
    /// the client went away or refused to answer, and those of [`check_deadline`](Self::check_deadline): once nobody
    /// waits for the call, nothing is asked.
    pub async fn ask<T>(
        &self,
        name: impl Into<String>,
        message: impl Into<String>,
    ) -> Result<Answer<T>, SkillError>
    where
        T: DeserializeOwned + JsonSchema,
    {
        let schema = schema::inputs::<T>().map_err(|problem| problem.to_string());
        let schema = schema.and_then(|schema| form::of(&schema)).map_err(|reason| {
            let message = format!(
                "{} cannot be asked for in a form: {reason}",
                schema::type_name::<T>()
            );
            SkillError::terminal("input_form_unsupported", message)
        })?;
        let (name, message) = (name.into(), message.into());
        let request = InputRequest::Form { message, schema };
        let response = self.request_input(&name, request).await?;
        Answer::read(response).map_err(|reason| {
            SkillError::terminal(
                "input_invalid",
                format!("the answer to `{name}` does not fit: {reason}"),
            )
        })
    }

    /// [`ask`](Self::ask) for functions that are not `async`: blocks the thread until there is an answer.
    ///
    /// # Errors
    ///
    /// Those of `ask`.
    pub fn ask_blocking<T>(
        &self,
        name: impl Into<String>,
        message: impl Into<String>,
    ) -> Result<Answer<T>, SkillError>
    where
        T: DeserializeOwned + JsonSchema,
    {
        blocking::wait(self.ask(name, message))
    }

    /// Sends a request to the caller's side and gives its answer as it came.
    ///
    /// [`ask`](Self::ask) does this for a form; here the form's schema is your own, and there are the other kinds of
    /// requests that the protocol has.
    ///
    /// # Errors
    ///
    /// `input_not_supported` where the caller does not answer requests of this kind, the retryable `input_unanswered`
    /// when it went away or refused to, and those of [`check_deadline`](Self::check_deadline): once nobody waits for the
    /// call, nothing is asked.
    pub async fn request_input(&self, name: &str, request: InputRequest) -> Result<Value, SkillError> {
        // Nobody is to be bothered with a question whose answer nobody waits for.
        self.check_deadline()?;
        let kind = request.kind();
        match &self.0.meta.input {
            Some(input) if input.supports(kind) => {
                let answer = input.request(name, request);
                // A host may end the call in place of an answer; what runs beside it must not wait for ever.
                #[cfg(feature = "runtime")]
                tokio::select! {
                    biased;
                    answer = answer => answer,
                    () = self.cancelled() => Err(self.given_up()),
                }
                #[cfg(not(feature = "runtime"))]
                answer.await
            }
            input => {
                let who = if input.is_some() { "the client" } else { "the host" };
                let elsewhere = match self.protocol() {
                    "test" => "; in a test, `answer` or `decline` of the call says what the user does",
                    "mcp" => "",
                    _ => "; a client of MCP that can ask its user has one",
                };
                let message = format!(
                    "{} has to ask for `{name}`, and {who} has no way to do that over {}{elsewhere}",
                    self.skill(),
                    self.protocol(),
                );
                let details = json!({"requires": kind.capability()});
                Err(SkillError::terminal("input_not_supported", message).with_details(details))
            }
        }
    }
}
