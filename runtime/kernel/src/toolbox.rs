//! The toolbox of one agent: the tools it may use, their context, and the layers of every call.

mod builder;
#[doc(hidden)]
pub mod dispatch;
mod error;
mod factory;
pub mod one_shot;
pub(crate) mod pipeline;
mod shared;
mod visibility;

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};

pub use crate::call::toolbox_context::{FactoryError, ToolboxContext};
pub use builder::ToolboxBuilder;
pub use error::ToolboxError;
pub use factory::ToolFactory;
pub use shared::SharedRegistry;

use crate::base::data::plain_data;
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::sync::unpoisoned;
use crate::call::context::{ToolContext, TurnContext};
use crate::call::error::ToolError;
use crate::call::peers::Peers;
use crate::call::principal::Principal;
use crate::call::tool::{AgentTool, IntoTool};
use crate::call::{ToolCall, ToolResponse};
use crate::layers::layer::{Layer, NO_LAYERS, Passed};
use crate::layers::pages::Pages;
use crate::layers::policy::Policy;
use crate::layers::redact::ToolRedactor;
use crate::registry::discovery::Discovered;
use crate::registry::{Registry, RegistryError};
use crate::spec::output::StructuredOutput;
use crate::spec::{ToolSpec, docs};
use crate::toolbox::pipeline::Layers;

/// The tools of one agent: the allowed part of a [`Registry`], together with the layers that every call passes.
/// Clones share the same toolbox.
///
/// ```
/// # use serde_json::json;
/// use toolgen_runtime::toolbox::ToolboxContext;
/// use toolgen_runtime::{Registry, ToolCall, Turn, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only, undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new(toolset![add])?;
/// let toolbox = registry.toolbox(ToolboxContext::new().with_agent_id("coder-1"));
/// let turn = Turn::new("turn-1");
/// let response = toolbox.run(ToolCall::new("call-1", "add", json!({"a": 1, "b": 2})), &turn).await;
/// assert_eq!(response.text(), "3");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Toolbox(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) registry: Registry,
    pub(crate) context: ToolboxContext,
    pub(crate) layers: Layers,
    /// The layers that observe calls, in order.
    pub(crate) recorders: Vec<Arc<dyn Layer>>,
    /// The layer that cuts large results, if there is one.
    pages: Option<Arc<Pages>>,
    /// The layers that create spans of calls, in order.
    pub(crate) tracers: Vec<Arc<dyn Layer>>,
    /// The bounds of the toolbox: its own, and those of the toolboxes it was derived from.
    bounds: Box<[Arc<Bounds>]>,
    /// One slot per tool of the registry, in the same order.
    slots: Box<[Slot]>,
    /// The tools with which a model finds the others.
    discovery: Option<Discovered>,
    hide_forbidden: bool,
    /// Locked while a tool is built, so that it is built only once.
    building: Mutex<()>,
}

/// The tools and limits that a toolbox is restricted to. A toolbox that is derived from another stays within its
/// bounds.
struct Bounds {
    /// The names of the tools; `None` for all.
    allowed: Option<BTreeSet<String>>,
    policy: Policy,
}

/// The state of a tool in a toolbox.
#[derive(Default)]
struct Slot {
    listed: bool,
    /// Whether a model finds the tool by searching and not in a list.
    found: bool,
    /// Whether the toolbox itself added the tool.
    is_builtin: bool,
    /// Whether a model sees the tool only after a result was cut, which the tool can read.
    on_demand: bool,
    /// The reason why the policy refuses the tool, if it does.
    refused: OnceLock<Option<Box<ToolError>>>,
    tool: OnceLock<Arc<dyn AgentTool>>,
    redactor: OnceLock<ToolRedactor>,
    declared: OnceLock<Option<Arc<StructuredOutput>>>,
    passed: OnceLock<Passed>,
}

/// A tool that the caller may call.
#[derive(Clone, Copy)]
pub(crate) struct Admitted<'a> {
    pub(crate) spec: &'a ToolSpec,
    index: usize,
}

/// A tool as it appears in a list of tools.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolMeta {
    /// The name that a model uses to call the tool.
    pub name: Text,
    /// The description of the tool.
    pub description: Text,
    /// The parameters, as plain JSON Schema.
    pub input_schema: Value,
}

plain_data!(ToolMeta: name, description, input_schema);

impl ToolMeta {
    /// Returns `{"name", "description", "input_schema"}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "description": self.description.as_str(),
            "input_schema": self.input_schema,
        })
    }
}

impl Toolbox {
    /// Creates a toolbox of these tools, with an empty context and the default layers. [`Registry::toolbox`] adds a
    /// context, [`builder`](Self::builder) also an allow-list, limits and other layers.
    ///
    /// # Errors
    ///
    /// The errors of [`RegistryBuilder::seal`](crate::RegistryBuilder::seal).
    #[track_caller]
    pub fn new(tools: impl IntoIterator<Item = impl IntoTool>) -> Result<Toolbox, RegistryError> {
        Ok(Registry::new(tools)?.toolbox(ToolboxContext::new()))
    }

    /// Returns a builder for a toolbox of the tools of a registry.
    #[must_use]
    pub fn builder(registry: &Registry) -> ToolboxBuilder {
        ToolboxBuilder::new(registry.clone())
    }

    /// Returns a builder for a toolbox with the context and the layers of this one but other tools, as a sub-agent
    /// has. The allow-list, the rules and the limits of this toolbox apply to these tools, regardless of other
    /// settings.
    #[must_use]
    pub fn builder_with(&self, registry: &Registry) -> ToolboxBuilder {
        ToolboxBuilder::like(&self.0, registry.clone())
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    /// Returns the layer of a type, if the toolbox has one.
    #[must_use]
    pub fn layer<L: Layer>(&self) -> Option<Arc<L>> {
        self.0.layers.find()
    }

    /// Returns the toolbox of a call.
    #[doc(hidden)]
    pub fn of(ctx: &ToolContext) -> Option<Toolbox> {
        let peers: Arc<dyn Any + Send + Sync> = ctx.turn().peers.clone()?;
        peers.downcast().ok().map(Toolbox)
    }

    /// Returns this toolbox as its tools see it.
    pub(crate) fn peers(&self) -> Arc<dyn Peers> {
        self.0.clone()
    }

    /// Whether calls in this context come through this toolbox.
    pub(crate) fn is_peer_of(&self, around: &TurnContext) -> bool {
        around.peers.as_ref().is_some_and(|peers| std::ptr::addr_eq(Arc::as_ptr(peers), Arc::as_ptr(&self.0)))
    }

    /// Returns the context: the services for the tools, and their limits.
    #[must_use]
    pub fn context(&self) -> &ToolboxContext {
        &self.0.context
    }

    /// Returns the arguments of a call with secrets masked, as records show them.
    #[doc(hidden)]
    #[must_use]
    pub fn redacted_arguments(&self, call: &ToolCall) -> Value {
        let redactor = self.0.redactor(self.0.registry.index(&call.name));
        redactor.arguments(call.arguments.clone()).0
    }

    /// Returns the specifications of the tools that may be used, sorted by name. With a
    /// [discovery](ToolboxBuilder::discovery), these are the tools that a model sees; it may also use the others.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.0.visible_tools().map(|(_, tool)| tool.spec())
    }

    /// Lists the tools that may be used, sorted by name, without building any of them; with a
    /// [discovery](ToolboxBuilder::discovery), the tools that a model sees.
    #[must_use]
    pub fn list(&self) -> Vec<ToolMeta> {
        let meta = self.0.visible_tools().map(|(_, tool)| ToolMeta {
            name: tool.spec().name.to_text(),
            description: tool.spec().description.clone(),
            input_schema: tool.parameters_schema(),
        });
        meta.collect()
    }

    /// Returns the tool with this name. The tool is built on first use and reused from then on; if building it fails,
    /// the next call tries again. Direct calls of the returned tool pass no layer; agents must use
    /// [`call`](Self::call).
    ///
    /// # Errors
    ///
    /// Returns `tool '{name}' not registered`, `tool '{name}' not allowed in this context`, or `failed to create tool
    /// '{name}': {error}`.
    pub fn get(&self, name: &str) -> Result<Arc<dyn AgentTool>, ToolboxError> {
        let Some(index) = self.0.registry.index(name) else {
            return Err(self.0.unknown(name));
        };
        if !self.0.may_use(index) {
            return Err(ToolboxError::NotAllowed(name.to_owned()));
        }
        match FactoryError::lacking(self.0.registry.at(index).spec(), &self.0.context.services) {
            None => self.0.tool(index).cloned(),
            Some(error) => Err(ToolboxError::Create { name: name.to_owned(), source: error }),
        }
    }

    /// Returns a summary of the tools for a system prompt, see [`docs::summary`].
    #[must_use]
    pub fn generate_tool_documentation(&self) -> String {
        docs::summary(self.specs())
    }

    /// Returns the full documentation of all tools for a system prompt, see [`docs::detail`].
    #[must_use]
    pub fn generate_detailed_documentation(&self) -> String {
        self.specs().map(docs::detail).collect()
    }

    /// Returns the documentation of the tools for a system prompt at any level, see [`docs::docs_at`].
    #[must_use]
    pub fn docs_at(&self, style: &docs::Style<'_>) -> String {
        docs::docs_at(self.specs(), style)
    }
}

impl Inner {
    /// Returns the tool with this name, if a model may know about it and use it.
    pub(crate) fn admit(
        &self,
        index: Option<usize>,
        name: &str,
        caller: Option<&Principal>,
    ) -> Result<Admitted<'_>, ToolError> {
        let Some(index) = index else {
            return Err(self.not_found(name, caller));
        };
        if self.is_hidden(index, caller) {
            return Err(self.not_found(name, caller));
        }
        if self.slots.get(index).is_none_or(|slot| !slot.listed) {
            return Err(ToolError::denied(ToolboxError::NotAllowed(name.to_owned()).to_string()));
        }
        match self.refusal(index) {
            None => Ok(Admitted { spec: self.registry.at(index).spec(), index }),
            Some(_) if self.hide_forbidden => {
                Err(ToolError::denied(ToolboxError::NotAllowed(name.to_owned()).to_string()))
            }
            Some(error) => Err(error.clone()),
        }
    }

    /// Returns the redactor for calls of the tool at the index, or of a tool that does not exist.
    pub(crate) fn redactor(&self, index: Option<usize>) -> ToolRedactor {
        let known = index.and_then(|index| self.redactor_at(index));
        known.cloned().unwrap_or_else(|| self.layers.redactor.for_unknown())
    }

    /// Returns the redactor for calls of a tool of the registry.
    pub(crate) fn redactor_at(&self, index: usize) -> Option<&ToolRedactor> {
        let redactor = || self.layers.redactor.for_tool(self.registry.at(index).spec());
        Some(self.slots.get(index)?.redactor.get_or_init(redactor))
    }

    /// Returns the layers that calls of a tool of the registry pass.
    pub(crate) fn passed(&self, index: usize) -> &Passed {
        let passed = || Passed::of(&self.layers.layers, self.registry.at(index).spec());
        self.slots.get(index).map_or(&NO_LAYERS, |slot| slot.passed.get_or_init(passed))
    }

    /// Returns the structured result that a tool declares.
    pub(crate) fn declared(&self, index: usize) -> Option<Arc<StructuredOutput>> {
        let declared = || self.registry.at(index).spec().structured_output().map(Arc::new);
        self.slots.get(index)?.declared.get_or_init(declared).clone()
    }

    /// Returns the tool itself, building it first if necessary.
    pub(crate) fn build(&self, admitted: Admitted<'_>) -> Result<&Arc<dyn AgentTool>, ToolError> {
        self.tool(admitted.index).map_err(|error| {
            // The reason names what the program lacks; a model can only report it.
            ToolError::failed(error.to_string())
        })
    }

    /// Returns the context for building tools; its executor enforces the limits of the context.
    fn build_context(&self) -> ToolboxContext {
        let context = self.context.clone();
        ToolboxContext { services: context.confined(context.services.clone()), ..context }
    }

    fn tool(&self, index: usize) -> Result<&Arc<dyn AgentTool>, ToolboxError> {
        let registered = self.registry.at(index);
        let Some(slot) = self.slots.get(index) else { return Ok(registered) };
        if let Some(tool) = slot.tool.get() {
            return Ok(tool);
        }
        let _building = unpoisoned(self.building.lock());
        if let Some(tool) = slot.tool.get() {
            return Ok(tool);
        }
        let tool = match registered.bind(&self.build_context()) {
            None => Arc::clone(registered),
            Some(built) => built.map_err(|error| ToolboxError::Create {
                name: registered.name().to_owned(),
                source: error,
            })?,
        };
        Ok(slot.tool.get_or_init(|| tool))
    }

    fn may_use(&self, index: usize) -> bool {
        let has_cut = || self.pages.as_ref().is_some_and(|pages| pages.has_cut());
        let visible = |slot: &Slot| slot.listed && (!slot.on_demand || has_cut());
        self.slots.get(index).is_some_and(visible) && self.refusal(index).is_none()
    }

    fn refusal(&self, index: usize) -> Option<&ToolError> {
        let slot = self.slots.get(index)?;
        let check = || {
            let tool = self.registry.at(index);
            let effects = tool.effects_in_context(&self.context);
            let refusal = |bounds: &Arc<Bounds>| bounds.policy.check_with(tool.spec(), &effects).err();
            self.bounds.iter().find_map(refusal).map(Box::new)
        };
        slot.refused.get_or_init(check).as_deref()
    }

    fn unknown(&self, name: &str) -> ToolboxError {
        let name = name.to_owned();
        if self.hide_forbidden { ToolboxError::NotAllowed(name) } else { ToolboxError::NotRegistered(name) }
    }

    /// Iterates over the tools that may be used, with their indices.
    fn usable(&self) -> impl Iterator<Item = (usize, &Arc<dyn AgentTool>)> {
        self.registry.iter().enumerate().filter(|(index, _)| self.may_use(*index))
    }
}

impl Peers for Inner {
    fn call<'a>(self: Arc<Self>, call: ToolCall, ctx: &'a ToolContext) -> BoxFuture<'a, ToolResponse> {
        Box::pin(async move { Toolbox(self).call_by_tool(call, ctx).await })
    }

    fn nested_calls(&self) -> u32 {
        self.layers.nested_calls
    }

    fn specs(&self) -> Vec<&ToolSpec> {
        self.usable().map(|(_, tool)| tool.spec()).collect()
    }

    fn search(&self, question: &str, limit: usize, keep: &dyn Fn(&ToolSpec) -> bool) -> Vec<&ToolSpec> {
        let fits = |at: usize| self.may_use(at) && keep(self.registry.at(at).spec());
        let found = self.registry.search_index().search(question, limit, fits);
        found.into_iter().map(|at| self.registry.at(at).spec()).collect()
    }
}

impl Registry {
    /// Builds a toolbox of all tools of this registry; [`Toolbox::builder`] offers more options.
    #[must_use]
    pub fn toolbox(&self, context: ToolboxContext) -> Toolbox {
        Toolbox::builder(self).context(context).of_all()
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.specs().map(|spec| spec.name.as_str()).collect();
        f.debug_struct("Toolbox")
            .field("agent_id", &self.0.context.agent_id)
            .field("tools", &names)
            .finish_non_exhaustive()
    }
}
