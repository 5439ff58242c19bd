//! Elicitation: asking the user during a call.
//!
//! [`SkillContext::ask`] sends a form to the user and returns the content. Only MCP supports this. Up to revision 2025-11-25
//! the server sends a request and the call waits. From 2026-07-28 on the call ends with the questions, and the client calls
//! again with the answers: **the skill runs again from its start**, and answered questions return at once. So ask first and
//! act afterwards: code before the last question runs once for each round.

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

/// The future of [`InputChannel::request`].
pub(crate) type Responding<'a> = Pin<Box<dyn Future<Output = Result<Value, SkillError>> + Send + 'a>>;

/// How a server reaches the user of a call.
pub(crate) trait InputChannel: Send + Sync {
    /// Whether the client supports requests of this kind.
    fn supports(&self, kind: InputKind) -> bool;

    /// Sends one request and waits for the response. The kind must be supported.
    ///
    /// The response to a form is `{"action": "accept" | "decline" | "cancel", "content"?: object}`. The future may never end: the
    /// server then ends the call in another way.
    fn request<'a>(&'a self, name: &'a str, request: InputRequest) -> Responding<'a>;
}

impl SkillContext {
    /// Whether the client supports [`ask`](Self::ask).
    pub fn can_ask(&self) -> bool {
        self.can_request(InputKind::Form)
    }

    /// Whether the client supports requests of this kind.
    pub fn can_request(&self, kind: InputKind) -> bool {
        let input = self.0.meta.input.as_ref();
        input.is_some_and(|input| input.supports(kind))
    }

    /// Asks the user to fill in a form with the fields of `T`.
    ///
    /// `name` identifies the question within the skill: asking again under the same name may return the same answer. `T` must be
    /// a struct of strings, numbers, booleans, enums without data, and lists of such enums. Its doc comments are shown to the
    /// user.
    ///
    /// If the call waits for the user, that time counts towards the timeout.
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
    /// Not retryable: `input_not_supported` if the client does not support this, `input_form_unsupported` if `T` is not such a
    /// struct, `input_invalid` if the response is not valid for `T`. Retryable: `input_unanswered` if the client disconnects or
    /// rejects the request, and the errors of [`check_deadline`](Self::check_deadline).
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
            let message = format!("`{}` cannot be a form: {reason}", schema::type_name::<T>());
            SkillError::terminal("input_form_unsupported", message)
        })?;
        let (name, message) = (name.into(), message.into());
        let request = InputRequest::Form { message, schema };
        let response = self.request_input(&name, request).await?;
        Answer::read(response).map_err(|reason| {
            SkillError::terminal(
                "input_invalid",
                format!("the response to `{name}` is not valid: {reason}"),
            )
        })
    }

    /// [`ask`](Self::ask) for functions that are not `async`: blocks the thread until the user responds.
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

    /// Sends a request to the client and returns its response unchanged.
    ///
    /// [`ask`](Self::ask) does this for a form of a type. Here the schema of the form is your own, and the protocol has other
    /// kinds of requests.
    ///
    /// # Errors
    ///
    /// `input_not_supported` if the client does not support this kind, the retryable `input_unanswered` if it disconnects or
    /// rejects the request, and the errors of [`check_deadline`](Self::check_deadline).
    pub async fn request_input(&self, name: &str, request: InputRequest) -> Result<Value, SkillError> {
        // The user must not be asked for a call that is over.
        self.check_deadline()?;
        let kind = request.kind();
        match &self.0.meta.input {
            Some(input) if input.supports(kind) => {
                let answer = input.request(name, request);
                // The server may end the call without a response.
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
                let who = if input.is_some() {
                    "the client"
                } else {
                    "the server"
                };
                let elsewhere = match self.protocol() {
                    "test" => "; in a test, use `answer` or `decline` of the call",
                    "mcp" => "",
                    _ => "; MCP clients with elicitation support it",
                };
                let message = format!(
                    "{} must ask for `{name}`, which {who} does not support over {}{elsewhere}",
                    self.skill(),
                    self.protocol(),
                );
                let details = json!({"requires": kind.capability()});
                Err(SkillError::terminal("input_not_supported", message).with_details(details))
            }
        }
    }
}
