//! What all requests of a model have in common.

use serde_json::{Value, json};
use toolgen_kernel::call::Dialects;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::toolbox::Toolbox;
use toolgen_wire::{PlanError, PlanOptions, Request, ToolChoice, WireError, WireFormat, merge};

use super::{Entry, ModelInfo, Transcript};

/// The parts that all requests of a model have in common: its name, instructions, tools and options.
#[derive(Clone)]
pub(crate) struct RequestTemplate {
    pub(crate) format: WireFormat,
    /// The rendered tools and their dialects. `None` until tools are offered or set.
    pub(crate) tools: Option<(Value, Dialects)>,
    /// The dialect in which offered tools are planned, if it is not that of the format.
    pub(crate) dialect: Option<&'static Dialect>,
    pub(crate) tool_options: PlanOptions,
    /// The choice of tools; one that forces a call is only in requests that follow a message of the user.
    pub(crate) tool_choice: Option<ToolChoice>,
    pub(crate) parallel_calls: Option<bool>,
    pub(crate) system: String,
    pub(crate) model: String,
    /// What the options are merged into.
    pub(crate) defaults: Value,
    pub(crate) options: Value,
}

impl RequestTemplate {
    pub(crate) fn new(format: WireFormat) -> RequestTemplate {
        let (system, model) = (String::new(), String::new());
        let (defaults, options) = (json!({}), json!({}));
        RequestTemplate {
            format,
            tools: None,
            dialect: None,
            tool_options: PlanOptions::default(),
            tool_choice: None,
            parallel_calls: None,
            system,
            model,
            defaults,
            options,
        }
    }

    /// Returns the tools as a request contains them, and their dialects.
    pub(crate) fn render<'s>(
        &self,
        specs: impl IntoIterator<Item = &'s ToolSpec>,
    ) -> Result<(Value, Dialects), PlanError> {
        let Some(dialect) = self.dialect else {
            let tools = self.format.tools_with(self.format.dialect(), specs, &self.tool_options)?;
            return Ok((tools, self.format.dialect().into()));
        };
        let plan = self.format.plan_with(dialect, specs, &self.tool_options)?;
        let dialects = plan.dialects();
        Ok((plan.into_tools(), dialects))
    }

    /// Renders the tools of a toolbox, unless tools were set. Returns their dialects.
    pub(crate) fn offer(&mut self, toolbox: &Toolbox) -> Result<Dialects, PlanError> {
        let tools = match self.tools.take() {
            Some(tools) => tools,
            None => self.render(toolbox.specs())?,
        };
        let (_, dialects) = self.tools.insert(tools);
        Ok(dialects.clone())
    }

    /// Returns the request for the next turn of a transcript, whose instructions replace those of the model.
    pub(crate) fn request(&self, transcript: &Transcript, streamed: bool) -> Result<Value, WireError> {
        let mut request = Request::new(transcript.messages(self.format).messages)
            .with_model(&self.model)
            .with_system(transcript.system().unwrap_or(&self.system))
            .with_tools(self.tools.as_ref().map_or(Value::Null, |(tools, _)| tools.clone()))
            .streamed(streamed);
        // A choice that forces a call would force one in every turn.
        let follows_user = matches!(transcript.iter().next_back(), Some(Entry::User(_)));
        let applies = |choice: &ToolChoice| follows_user || !choice.forces_calls();
        request.tool_choice = self.tool_choice.clone().filter(applies);
        request.parallel_calls = self.parallel_calls;
        let mut request = self.format.request(request)?;
        if let Some(members) = next_request(transcript, self.format) {
            merge(&mut request, members);
        }
        merge(&mut request, &self.defaults);
        merge(&mut request, &self.options);
        Ok(request)
    }

    pub(crate) fn info(&self, streamed: bool) -> ModelInfo {
        let (provider, operation) = match self.format {
            WireFormat::OpenAiChat | WireFormat::OpenAiResponses => ("openai", "chat"),
            WireFormat::Anthropic => ("anthropic", "chat"),
            WireFormat::Gemini => ("gcp.gemini", "generate_content"),
            WireFormat::Bedrock => ("aws.bedrock", "chat"),
            _ => ("", ""),
        };
        ModelInfo { provider, operation, model: self.model.clone().into(), streamed }
    }
}

/// Returns the members that the last turn of a model requires of the next request, if it is of this format.
fn next_request(transcript: &Transcript, format: WireFormat) -> Option<&Value> {
    let turn = transcript.iter().rev().find_map(|entry| match entry {
        Entry::Model(turn) => Some(turn),
        _ => None,
    })?;
    Some(&turn.raw.next_request).filter(|members| turn.raw.format == format.name() && members.is_object())
}
