//! The builder of a toolbox.

mod approvals;
mod toolsets;

use std::any::TypeId;
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use toolgen_core::internal::hosts;

use super::{Bounds, Inner, Slot, Toolbox, ToolboxContext, ToolboxError};
use crate::base::frozen::Text;
use crate::call::store::Store;
use crate::call::tool::AgentTool;
use crate::layers;
use crate::layers::breaker::CircuitBreaker;
use crate::layers::control::{ASK_QUESTION, Answerer, EffectHandler, InputHandler, Questions};
use crate::layers::dependencies::Dependencies;
use crate::layers::events::{Event, OnEvent};
use crate::layers::hooks::Hooks;
use crate::layers::layer::{Layer, Stage};
use crate::layers::middleware::{Middleware, MiddlewareLayer};
use crate::layers::pages::{Pages, READ_RESULT};
use crate::layers::policy::{Policy, PolicyRules};
use crate::layers::rate::{RateLimit, RateLimitLayer};
use crate::layers::redact::Redactor;
use crate::layers::repeat::RepeatLayer;
use crate::layers::voice::Voice;
use crate::registry::discovery::{Discovered, Discovery};
use crate::registry::toolsets::{ContextSpec, Toolset};
use crate::registry::{Registry, RegistryError};
use crate::spec::{Network, ToolSpec};
use crate::toolbox::pipeline::Layers;

/// Builds a [`Toolbox`]: its tools, its context, and its layers. A layer that is not set is absent and costs nothing,
/// except for [paging](Self::paging) and [repeats](Self::max_repeated_failures), which are on by default.
pub struct ToolboxBuilder {
    registry: Registry,
    context: ToolboxContext,
    allowed: Option<BTreeSet<String>>,
    rules: PolicyRules,
    /// The bounds of the toolbox that this one is derived from.
    inherited: Vec<Arc<Bounds>>,
    toolsets: Vec<Toolset>,
    contexts: Vec<ContextSpec>,
    layers: Layers,
    /// The number of layers that come from the toolbox that this one is derived from. They may name its tools.
    inherited_layers: usize,
    hide_forbidden: bool,
    /// Whether the program has set the paging.
    pages_are_set: bool,
    /// The index of the tool that reads the rest of results, if any.
    reader: Option<usize>,
    discovery: Option<Discovery>,
}

impl ToolboxBuilder {
    pub(super) fn new(registry: Registry) -> ToolboxBuilder {
        let layers = Layers::new(registry.default_timeout());
        ToolboxBuilder {
            registry,
            context: ToolboxContext::default(),
            allowed: None,
            rules: PolicyRules::default(),
            inherited: Vec::new(),
            toolsets: Vec::new(),
            contexts: Vec::new(),
            layers,
            inherited_layers: 0,
            hide_forbidden: false,
            pages_are_set: false,
            reader: None,
            discovery: None,
        }
    }

    /// Starts with the context and layers of a toolbox, for other tools.
    pub(super) fn like(toolbox: &Inner, registry: Registry) -> ToolboxBuilder {
        ToolboxBuilder {
            context: toolbox.context.clone(),
            layers: toolbox.layers.clone(),
            inherited_layers: toolbox.layers.layers.len(),
            inherited: toolbox.bounds.to_vec(),
            hide_forbidden: toolbox.hide_forbidden,
            ..ToolboxBuilder::new(registry)
        }
    }

    /// Sets the context: the services for the tools, and their limits.
    #[must_use]
    pub fn context(mut self, context: ToolboxContext) -> ToolboxBuilder {
        self.context = context;
        self
    }

    /// Allows only these tools and those allowed before. Without an allow-list, all tools are allowed. The list also
    /// applies to the tools of sub-agents, so it must name the tools that they may use. Names are exact; for patterns,
    /// see [`rules`](Self::rules).
    #[must_use]
    pub fn allow<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> ToolboxBuilder {
        self.allowed.get_or_insert_default().extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the rules on names, categories and effects that decide which tools are available. They also apply to the
    /// tools of sub-agents.
    #[must_use]
    pub fn rules(mut self, rules: PolicyRules) -> ToolboxBuilder {
        self.rules = rules;
        self
    }

    /// Sets the rate limit of tool calls per principal, see [`rate`](crate::layers::rate). Calls without a principal
    /// are limited per agent or session, or otherwise for the toolbox as a whole.
    #[must_use]
    pub fn rate_limit(self, limit: impl RateLimit + 'static) -> ToolboxBuilder {
        self.layer(RateLimitLayer(Arc::new(limit)))
    }

    /// Returns the same error for calls of forbidden tools and of unknown tools.
    #[must_use]
    pub fn hide_forbidden(mut self) -> ToolboxBuilder {
        self.hide_forbidden = true;
        self
    }

    /// Sets the timeout of tools that do not specify one; the default is that of the registry.
    #[must_use]
    pub fn default_timeout(mut self, timeout: Duration) -> ToolboxBuilder {
        self.layers.default_timeout = timeout;
        self
    }

    /// Sets the maximum number of calls that tools may make for a single call of a model, at all depths together:
    /// [`DEFAULT_MAX_NESTED_CALLS`](crate::call::context::DEFAULT_MAX_NESTED_CALLS) by default. Additional calls fail
    /// with the code `CALLS_EXCEEDED`. The calls of a sub-agent are calls of a model, and are limited by its
    /// maximum number of turns.
    #[must_use]
    pub fn max_nested_calls(mut self, max: u32) -> ToolboxBuilder {
        self.layers.nested_calls = max;
        self
    }

    /// Sets how the requirements of tools are looked up. Without it, entity requirements and custom checks are never
    /// met.
    #[must_use]
    pub fn dependencies(self, dependencies: Dependencies) -> ToolboxBuilder {
        self.layer(dependencies)
    }

    /// Sets the circuit breakers of the services that tools name. Toolboxes that share a breaker see the same
    /// failures.
    #[must_use]
    pub fn breaker(mut self, breaker: Arc<CircuitBreaker>) -> ToolboxBuilder {
        self.layers.add(breaker);
        self
    }

    /// Sets the number of consecutive failures after which an identical call is refused. Default: 3; `None` for no
    /// limit. Failures are counted per principal, agent and session; a call without any of them is not counted.
    #[must_use]
    pub fn max_repeated_failures(mut self, limit: Option<NonZeroU32>) -> ToolboxBuilder {
        self.layers.change(|repeats: &mut RepeatLayer| repeats.set_limit(limit));
        self
    }

    /// Counts the failures of identical calls together with other processes. This works for callers whose sessions
    /// have the same IDs there, or that have a principal or an agent. Calls with secret arguments are counted in this
    /// process alone. While the store is unreachable, each process counts only its own failures.
    ///
    /// A call costs one request to the store before it, and another after it if it fails, or succeeds after a failure.
    #[must_use]
    pub fn failure_store(mut self, store: impl Store + 'static) -> ToolboxBuilder {
        self.layers.change(|repeats: &mut RepeatLayer| repeats.share(Arc::new(store)));
        self
    }

    /// Adds a layer, inside the layers of its stage that were added before. A toolbox has only one [rate
    /// limit](Self::rate_limit), one [voice](Self::voice) and so on; adding another replaces it, see
    /// [`Layer::is_single`].
    #[must_use]
    pub fn layer(mut self, layer: impl Layer + 'static) -> ToolboxBuilder {
        self.pages_are_set |= layer.type_id() == TypeId::of::<Pages>();
        self.layers.add(Arc::new(layer));
        self
    }

    /// Adds a middleware after those already added.
    #[must_use]
    pub fn middleware(self, middleware: impl Middleware + 'static) -> ToolboxBuilder {
        self.layer(MiddlewareLayer(Box::new(middleware)))
    }

    /// Sets how large results are paged. By default, results are cut after [50,000
    /// bytes](crate::layers::pages::ResultLimit::DEFAULT) of text. The tool that lets a model read the rest,
    /// `read_result`, is available regardless of the lists and rules of the toolbox and of principals: it only
    /// returns text that the model could have read before.
    ///
    /// With the default, the tool is listed after the first result that is cut, so list the tools for each turn. With
    /// paging that is set here, the tool is listed from the start. There is no default for a registry that has
    /// another tool of this name.
    #[must_use]
    pub fn paging(self, pages: Pages) -> ToolboxBuilder {
        self.layer(pages)
    }

    /// Disables paging: results are returned in full, and the `read_result` tool is not added.
    #[must_use]
    pub fn without_paging(mut self) -> ToolboxBuilder {
        self.layers.remove::<Pages>();
        self
    }

    /// Sets the style of error messages about invalid arguments, see [`Voice`].
    #[must_use]
    pub fn voice(self, voice: Voice) -> ToolboxBuilder {
        self.layer(voice)
    }

    /// Sets the handler of the effects with this name, replacing any other. Without a handler, such calls
    /// fail with the code [`EFFECT_UNHANDLED`](crate::layers::control::EFFECT_UNHANDLED).
    #[must_use]
    pub fn effect(mut self, name: impl Into<Text>, handler: impl EffectHandler + 'static) -> ToolboxBuilder {
        self.layers.controls.effects.insert(name.into(), Arc::new(handler));
        self
    }

    /// Sets the answerer for questions of [`AskQuestion`](crate::layers::control::AskQuestion).
    #[must_use]
    pub fn answerer(self, answerer: impl Answerer + 'static) -> ToolboxBuilder {
        self.effect(ASK_QUESTION, Questions(answerer))
    }

    /// Sets the handler that supplies the input that tools request. Without a handler, such calls wait for
    /// [`Toolbox::resume_with_input`].
    #[must_use]
    pub fn input_handler(mut self, handler: impl InputHandler + 'static) -> ToolboxBuilder {
        self.layers.controls.input = Some(Arc::new(handler));
        self
    }

    /// Sets the hooks that observe calls from outside.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks + 'static) -> ToolboxBuilder {
        self.layers.hooks = Some(Arc::new(hooks));
        self
    }

    /// Sets the function that receives events.
    #[must_use]
    pub fn on_event(mut self, on_event: impl Fn(Event) + Send + Sync + 'static) -> ToolboxBuilder {
        self.layers.on_event = Some(Arc::new(on_event) as OnEvent);
        self
    }

    /// Sets the redactor of events and spans, which redacts the usual secrets by default. An auditor has its own
    /// redactor. Its keys also determine which arguments are secret in updates and in the calls that a tool makes.
    #[must_use]
    pub fn redactor(mut self, redactor: Redactor) -> ToolboxBuilder {
        self.layers.redactor = redactor;
        self
    }

    /// Builds the toolbox, without building any tool.
    ///
    /// # Errors
    ///
    /// [`ToolboxError::UnknownTools`] with all allowed names that neither the registry nor a sub-agent in it has;
    /// [`ToolboxError::UnusedRules`] with all rules that match none of these tools; [`ToolboxError::Toolset`] with
    /// all problems of the toolsets; [`ToolboxError::NotSealed`] if the registry has a `read_result` tool and
    /// [`paging`](Self::paging) adds another; [`ToolboxError::Discovery`] if a tool name of the
    /// [discovery](Self::discovery) is invalid or is already taken; [`ToolboxError::OwnTool`] if a rule excludes, by
    /// its name, a tool that the toolbox itself adds; [`ToolboxError::ShortKey`] if the
    /// [`approval_key`](Self::approval_key) has fewer than 32 bytes; [`ToolboxError::Host`] if an entry of the limits
    /// is not a host; [`ToolboxError::Layer`] if an added layer does not fit the tools.
    pub fn build(mut self) -> Result<Toolbox, ToolboxError> {
        if let Some(length) = self.layers.seals.short_key() {
            return Err(ToolboxError::ShortKey(length));
        }
        if let Network::Hosts(hosts) = &self.context.limits.network
            && let Some(reason) = hosts.iter().find_map(|host| hosts::wrong(host))
        {
            return Err(ToolboxError::Host(reason));
        }
        self.add_reader().map_err(ToolboxError::NotSealed)?;
        let discovery = self.add_discovery()?;
        self.apply_sets()?;
        let unused = self.rules.unused(&self.registry);
        if !unused.is_empty() {
            return Err(ToolboxError::UnusedRules(unused));
        }
        let specs: Vec<&ToolSpec> = self.registry.all_specs().collect();
        let own_layers = self.layers.layers.iter().skip(self.inherited_layers);
        let problems: Vec<String> = own_layers.filter_map(|layer| layer.check(&specs).err()).collect();
        if !problems.is_empty() {
            return Err(ToolboxError::Layer(problems.join("\n")));
        }
        let reader = self.reader.map(|_| READ_RESULT);
        let discovery_tools =
            discovery.iter().flat_map(|discovery| discovery.tools.iter().map(|tool| tool.name()));
        let mut own_tools = reader.into_iter().chain(discovery_tools);
        if let Some(name) = own_tools.find(|name| self.rules.excludes_by_name(name)) {
            return Err(ToolboxError::OwnTool(name.to_owned()));
        }
        Ok(self.build_checked(discovery))
    }

    /// Builds a toolbox of all tools, without lists and rules.
    pub(super) fn of_all(mut self) -> Toolbox {
        if self.add_reader().is_err() {
            self.layers.remove::<Pages>();
        }
        self.build_checked(None)
    }

    /// Adds the tool that lets a model read the rest of a result. By default, results are not cut if a tool of the
    /// program has this name.
    fn add_reader(&mut self) -> Result<(), RegistryError> {
        if !self.pages_are_set && self.registry.index(READ_RESULT).is_some() {
            self.layers.remove::<Pages>();
        }
        if let Some(pages) = self.layers.find::<Pages>() {
            let reader = Arc::new(pages.tool()) as Arc<dyn AgentTool>;
            self.registry = self.registry.extend([reader])?;
            self.reader = self.registry.index(READ_RESULT);
        }
        Ok(())
    }

    /// Builds the toolbox from lists and rules that were checked against the tools.
    fn build_checked(mut self, discovery: Option<Discovered>) -> Toolbox {
        for outer in &self.inherited {
            self.context.limits = self.context.limits.and(&outer.policy.limits);
        }
        // Toolboxes built from this one, such as those of its sub-agents, share the lock.
        if self.layers.exclusion.is_none() && self.registry.all_specs().any(|spec| spec.exclusive) {
            self.layers.exclusion = Some(Arc::default());
        }
        let policy = Policy::new(self.context.limits.clone()).with_rules(self.rules);
        let own_bounds = Arc::new(Bounds { allowed: self.allowed, policy });
        let bounds: Box<[_]> = self.inherited.into_iter().chain([own_bounds]).collect();
        let pinned: BTreeSet<&str> =
            self.discovery.iter().flat_map(Discovery::pinned).map(Text::as_str).collect();
        let slot = |(index, tool): (usize, &Arc<dyn AgentTool>)| {
            let is_reader = self.reader == Some(index);
            let is_allowed_by = |bounds: &Arc<Bounds>| {
                bounds.allowed.as_ref().is_none_or(|allowed| allowed.contains(tool.name()))
            };
            let is_builtin = is_reader || discovery.as_ref().is_some_and(|discovery| discovery.has(tool));
            let found = discovery.is_some() && !is_builtin && !pinned.contains(tool.name());
            let refused = if is_builtin { OnceLock::from(None) } else { OnceLock::new() };
            let on_demand = is_reader && !self.pages_are_set;
            Slot {
                listed: is_builtin || bounds.iter().all(is_allowed_by),
                found,
                is_builtin,
                on_demand,
                refused,
                ..Slot::default()
            }
        };
        let slots = self.registry.iter().enumerate().map(slot).collect();
        let layers_of = |stage| {
            let layers = self.layers.layers.iter().filter(|layer| layer.stage() == stage);
            layers.cloned().collect()
        };
        let (recorders, tracers) = (layers_of(Stage::Record), layers::with_trace(layers_of(Stage::Trace)));
        let pages = self.layers.find();
        Toolbox(Arc::new(Inner {
            registry: self.registry,
            recorders,
            tracers,
            pages,
            context: self.context,
            layers: self.layers,
            bounds,
            slots,
            discovery,
            hide_forbidden: self.hide_forbidden,
            building: Mutex::new(()),
        }))
    }
}

impl fmt::Debug for ToolboxBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolboxBuilder")
            .field("registry", &self.registry)
            .field("context", &self.context)
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}
