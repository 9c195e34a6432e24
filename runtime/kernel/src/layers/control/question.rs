//! The tool `ask_question`, with which an agent asks an expert.

use serde_json::{Value, json};

use super::EffectHandler;
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::redacted_debug::discreet_debug;
use crate::call::context::ToolContext;
use crate::call::control::{Control, Effect};
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::AgentTool;
use crate::schema::shape::Schema;
use crate::spec::{Effects, Timeout, ToolName, ToolSpec};

/// The name of the tool and of its effect.
pub const ASK_QUESTION: &str = "ask_question";

/// The ready-made tool `ask_question`, with which an agent asks an expert, such as a person, and waits for the answer.
///
/// Set the answerer with [`ToolboxBuilder::answerer`](crate::toolbox::ToolboxBuilder::answerer). The result is
/// `Question: {question}` and `Answer: {answer}` on two lines.
///
/// ```
/// # use serde_json::json;
/// use toolgen_runtime::layers::control::{Answerer, AskQuestion, Question};
/// use toolgen_runtime::{BoxFuture, Toolbox, Registry, ToolCall, ToolContext, Turn, ToolError};
///
/// struct Architect;
///
/// impl Answerer for Architect {
///     fn answer<'a>(
///         &'a self,
///         _question: &'a Question,
///         _ctx: &'a ToolContext,
///     ) -> BoxFuture<'a, Result<String, ToolError>> {
///         Box::pin(async { Ok("SQLite".to_owned()) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::builder().add(AskQuestion).seal()?;
/// let toolbox = Toolbox::builder(&registry).answerer(Architect).build()?;
/// let call = ToolCall::new("call-1", "ask_question", json!({"question": "Which database?"}));
/// let answer = toolbox.run(call, &Turn::new("turn-1")).await;
/// assert_eq!(answer.text(), "Question: Which database?\nAnswer: SQLite");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AskQuestion;

static SPEC: ToolSpec = ToolSpec {
    name: ToolName::new(ASK_QUESTION),
    label: Text::Static("Ask a Question"),
    description: Text::Static(
        "Asks an expert and waits for the answer. Use it if you cannot continue without the answer.",
    ),
    returns: Text::Static("The question and its answer."),
    input: Schema::text(
        r#"{"type":"object","properties":{"question":{"type":"string","description":"What you need to know, in one or a few sentences.","minLength":1},"context":{"type":"string","description":"Context that the expert needs to understand the question. Empty by default."},"urgency":{"type":"string","description":"Urgency of the answer, such as `low`, `medium` or `high`. Unspecified by default."}},"required":["question"]}"#,
    ),
    effects: Effects { open_world: true, idempotent: false, ..Effects::NONE },
    timeout: Timeout::Default,
    ..ToolSpec::EMPTY
};

/// A question of an agent.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The question itself.
    pub question: String,
    /// The context needed to understand the question; may be empty.
    pub context: String,
    /// The urgency of the question, as the agent describes it; empty if not stated.
    pub urgency: String,
}

discreet_debug!(Question: ; question, context, urgency);

/// Answers questions of agents.
pub trait Answerer: Send + Sync {
    /// Answers a question. There is no timeout.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no answer; the agent gets the reason.
    fn answer<'a>(
        &'a self,
        question: &'a Question,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<String, ToolError>>;
}

impl AgentTool for AskQuestion {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        let effect = Effect::new(ASK_QUESTION, params);
        Box::pin(std::future::ready(Ok(ToolResult::empty().with_control(Control::Effect(effect)))))
    }
}

/// Handles the effect of [`AskQuestion`].
pub(crate) struct Questions<A>(pub(crate) A);

impl<A: Answerer> EffectHandler for Questions<A> {
    fn handle<'a>(
        &'a self,
        effect: &'a Effect,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let string_of =
                |key: &str| effect.data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let question = Question {
                question: string_of("question"),
                context: string_of("context"),
                urgency: string_of("urgency"),
            };
            let answer = self.0.answer(&question, ctx).await?;
            let details = json!({ "question": question.question, "answer": answer });
            let message = format!("Question: {}\nAnswer: {answer}", question.question);
            Ok(ToolResult::text(message).with_details(details))
        })
    }
}
