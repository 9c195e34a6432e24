//! Whole requests to a model.

use serde_json::{Map, Value};
use toolgen_kernel::base::frozen::Text;

use super::tools::object;
use super::{WireError, WireFormat};

/// The parts of a request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The name of the model. Not written if the URL contains it, as for Gemini and Bedrock.
    pub model: &'a str,
    /// The instructions for the model. May be empty.
    pub system: &'a str,
    /// The tools, as [`WireFormat::tools`] returns them. Null or an empty list for none.
    pub tools: Value,
    /// The messages, oldest first.
    pub messages: Vec<Value>,
    /// Which tools the model must or may call; ignored without tools. Default: the vendor's, which is
    /// [`ToolChoice::Auto`].
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may make several calls in a turn. Default: the vendor's, mostly yes.
    pub parallel_calls: Option<bool>,
    /// Whether the reply is streamed. Has no effect if the URL decides this, as for Gemini and Bedrock.
    pub stream: bool,
}

impl<'a> Request<'a> {
    /// Creates a request with these messages.
    #[must_use]
    pub fn new(messages: Vec<Value>) -> Request<'a> {
        Request { messages, ..Request::default() }
    }

    /// Sets the model.
    #[must_use]
    pub fn with_model(mut self, model: &'a str) -> Request<'a> {
        self.model = model;
        self
    }

    /// Sets the instructions for the model.
    #[must_use]
    pub fn with_system(mut self, system: &'a str) -> Request<'a> {
        self.system = system;
        self
    }

    /// Sets the tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Value) -> Request<'a> {
        self.tools = tools;
        self
    }

    /// Sets which tools the model must or may call.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Request<'a> {
        self.tool_choice = Some(choice);
        self
    }

    /// Sets whether the model may make several calls in a turn.
    #[must_use]
    pub fn with_parallel_calls(mut self, parallel: bool) -> Request<'a> {
        self.parallel_calls = Some(parallel);
        self
    }

    /// Sets whether the reply is streamed.
    #[must_use]
    pub fn streamed(mut self, stream: bool) -> Request<'a> {
        self.stream = stream;
        self
    }

    /// Returns an object with these members, except for those that are null or empty.
    #[must_use]
    pub fn body<const N: usize>(members: [(&str, Value); N]) -> Value {
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::String(text) => text.is_empty(),
            _ => false,
        };
        let present = members.into_iter().filter(|(_, value)| !is_empty(value));
        present.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
    }
}

/// Which tools a model must or may call in its next turn. The tools stay in the request, so that it can be cached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// The model decides, and the vendor guarantees that arguments match their schemas: Gemini's mode `VALIDATED`. The
    /// other vendors guarantee this for each tool, see [`WireFormat::plan`], and treat it as [`Auto`](Self::Auto).
    Validated,
    /// The model must not call a tool.
    None,
    /// The model must call a tool.
    Required,
    /// The model must call this tool.
    Tool(Text),
    /// The model must call one of these tools.
    AnyOf(Vec<Text>),
}

/// Why some formats cannot express [`ToolChoice::AnyOf`].
pub(super) const NO_ANY_OF: &str =
    "cannot require one of several tools; offer only these, with `ToolChoice::Required`";

impl ToolChoice {
    /// Whether the model must make a call.
    #[must_use]
    pub fn forces_calls(&self) -> bool {
        matches!(self, ToolChoice::Required | ToolChoice::Tool(_) | ToolChoice::AnyOf(_))
    }
}

/// What a format writes about the calls of the next turn.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallPolicy<'a> {
    /// Which tools the model must or may call.
    pub choice: Option<&'a ToolChoice>,
    /// Whether the model may make several calls in a turn.
    pub parallel: Option<bool>,
    /// The rendered tools of the request.
    pub tools: &'a Value,
}

impl<'a> CallPolicy<'a> {
    /// Returns the definitions of tools, also those in groups.
    fn definitions(self) -> impl Iterator<Item = &'a Value> {
        let list = self.tools.as_array().or_else(|| self.tools.get("tools")?.as_array());
        list.into_iter().flatten().flat_map(|tool| {
            let group = ["tools", "functionDeclarations"].iter().find_map(|key| tool.get(key)?.as_array());
            group.into_iter().flatten().chain(group.is_none().then_some(tool))
        })
    }

    /// Returns the definition of the tool with a name.
    pub(super) fn tool(self, name: &str) -> Option<&'a Value> {
        let names = ["/name", "/function/name", "/custom/name", "/toolSpec/name"];
        let is_named = |tool: &&Value| {
            names.iter().any(|pointer| tool.pointer(pointer).and_then(Value::as_str) == Some(name))
        };
        self.definitions().find(is_named)
    }

    /// Whether programs may call a tool.
    pub(super) fn runs_programs(self) -> bool {
        self.definitions().any(|tool| tool.get("allowed_callers").is_some())
    }

    /// Returns the names that the choice contains and no tool has.
    fn unknown(self) -> Vec<&'a str> {
        let chosen = match self.choice {
            Some(ToolChoice::Tool(name)) => std::slice::from_ref(name),
            Some(ToolChoice::AnyOf(names)) => names.as_slice(),
            _ => &[],
        };
        chosen.iter().map(Text::as_str).filter(|name| self.tool(name).is_none()).collect()
    }

    /// Returns the choice in the form of OpenAI. `reference` renders the reference to a tool of a type, and `allowed` a
    /// list of them.
    pub(super) fn of_openai(
        self,
        reference: fn(&str, &str) -> Value,
        allowed: fn(Vec<Value>) -> Value,
    ) -> Result<Value, &'static str> {
        let tool = |name: &Text| {
            let is_custom = self.tool(name).is_some_and(|tool| tool["type"] == "custom");
            reference(if is_custom { "custom" } else { "function" }, name)
        };
        let choice = match self.choice {
            None => Value::Null,
            Some(ToolChoice::Auto | ToolChoice::Validated) => "auto".into(),
            Some(ToolChoice::None) => "none".into(),
            Some(ToolChoice::Required) => "required".into(),
            Some(ToolChoice::Tool(name)) => tool(name),
            Some(ToolChoice::AnyOf(names)) => allowed(names.iter().map(tool).collect()),
        };
        let parallel = self.parallel.map_or(Value::Null, Value::Bool);
        Ok(Request::body([("tool_choice", choice), ("parallel_tool_calls", parallel)]))
    }
}

/// Returns `{"text": …}` in a list, or null if `text` is empty.
pub(super) fn parts(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { Value::Array(vec![object([("text", text.into())])]) }
}

impl WireFormat {
    /// Renders a whole request to a model.
    ///
    /// # Errors
    ///
    /// Returns an error if the format has no requests to a model: MCP, and formats without a
    /// [`Conversation`](super::format::Conversation); or if it cannot express the [choice of tools](ToolChoice) or whether
    /// calls are parallel.
    pub fn request(self, request: Request<'_>) -> Result<Value, WireError> {
        let Some(conversation) = self.format().conversation else { return Err(self.no_conversation()) };
        let policy = CallPolicy {
            choice: request.tool_choice.as_ref(),
            parallel: request.parallel_calls,
            tools: &request.tools,
        };
        // Vendors reject both if there are no tools.
        if (policy.choice.is_none() && policy.parallel.is_none()) || policy.definitions().next().is_none() {
            return Ok((conversation.request)(request));
        }
        let inexpressible = |reason| WireError::new("", format!("{self} {reason}"));
        if matches!(policy.choice, Some(ToolChoice::AnyOf(names)) if names.is_empty()) {
            return Err(inexpressible("cannot let a model call one of no tools"));
        }
        let unknown = policy.unknown();
        if !unknown.is_empty() {
            let message = format!(
                "the choice of tools names tools that the request does not have: {}",
                unknown.join(", ")
            );
            return Err(WireError::new("", message));
        }
        let members = (conversation.policy)(policy).map_err(inexpressible)?;
        let mut body = (conversation.request)(request);
        if members.is_object() {
            merge(&mut body, &members);
        }
        Ok(body)
    }

    pub(super) fn no_conversation(self) -> WireError {
        let message = format!("the format `{self}` has calls and results, but no conversation with a model");
        WireError::new("", message)
    }
}

/// Adds options to a request. Objects are merged member by member; any other value replaces the existing one.
pub fn merge(request: &mut Value, options: &Value) {
    match (request, options) {
        (Value::Object(request), Value::Object(options)) => {
            for (key, option) in options {
                match request.get_mut(key) {
                    Some(existing) => merge(existing, option),
                    None => {
                        request.insert(key.clone(), option.clone());
                    }
                }
            }
        }
        (request, options) => *request = options.clone(),
    }
}
