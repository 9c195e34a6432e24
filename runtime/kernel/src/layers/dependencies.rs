//! Requirements that must hold before a call: context values, session state, earlier calls, entities and custom
//! checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use toolgen_core::internal::{ArgumentLookup, find_field, in_order};

use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::future::catch_panic_async;
use crate::call::context::ToolContext;
use crate::call::context_values::{Provenance, is_given};
use crate::call::control::Control;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::session::Session;
use crate::call::structured::Structured;
use crate::call::tool::{DEFAULT_TIMEOUT, decoded};
use crate::layers::layer::{Invocation, Layer, Outcome, Stage};
use crate::registry::Registry;
use crate::spec::{Requirement, RequirementKind, ToolSpec};

pub use crate::call::unmet_requirements::{MissingDependencies, Unmet};

/// Checks whether the requirements of tools hold.
///
/// Values of the context, state of the session and earlier calls need only the context of the call. Entities and
/// custom checks are looked up with the functions set here; a requirement without a function does not hold.
///
/// ```
/// use serde_json::Value;
/// use toolgen_runtime::{Dependencies, ToolContext};
///
/// let dependencies = Dependencies::new()
///     .entity("plan", |slug: &Value, _ctx: &ToolContext| {
///         let exists = slug == "launch";
///         Box::pin(async move { Ok(exists) })
///     })
///     .trusted("workspace_id");
/// # let _ = dependencies;
/// ```
#[derive(Clone)]
pub struct Dependencies {
    entities: BTreeMap<String, Arc<Lookup>>,
    checks: BTreeMap<String, Arc<Lookup>>,
    trusted: BTreeSet<String>,
    timeout: Duration,
}

/// Takes the value that identifies an entity, or all arguments for a custom check.
type Lookup = dyn for<'a> Fn(&'a Value, &'a ToolContext) -> LookupFuture<'a> + Send + Sync;
type LookupFuture<'a> = BoxFuture<'a, Result<bool, ToolError>>;

impl Default for Dependencies {
    fn default() -> Self {
        Dependencies {
            entities: BTreeMap::new(),
            checks: BTreeMap::new(),
            trusted: BTreeSet::new(),
            timeout: DEFAULT_TIMEOUT,
        }
    }
}

impl Dependencies {
    /// Creates dependencies without entities and custom checks.
    #[must_use]
    pub fn new() -> Dependencies {
        Dependencies::default()
    }

    /// Sets the function that returns whether an entity of a kind exists. The function takes the argument that
    /// identifies the entity: never `null` and never an empty string, otherwise any value that the model sent.
    ///
    /// Look up only what the caller of the context may see: "exists" also discloses information.
    #[must_use]
    pub fn entity<F>(mut self, kind: impl Into<String>, exists: F) -> Dependencies
    where
        F: for<'a> Fn(&'a Value, &'a ToolContext) -> LookupFuture<'a> + Send + Sync + 'static,
    {
        self.entities.insert(kind.into(), Arc::new(exists));
        self
    }

    /// Sets the function that returns whether a custom check passes. The function takes the arguments of the call.
    #[must_use]
    pub fn custom<F>(mut self, name: impl Into<String>, passes: F) -> Dependencies
    where
        F: for<'a> Fn(&'a Value, &'a ToolContext) -> LookupFuture<'a> + Send + Sync + 'static,
    {
        self.checks.insert(name.into(), Arc::new(passes));
        self
    }

    /// Accepts the context value of this key only if the program set it, see [`ContextValues`](crate::ContextValues).
    /// By default, a value that a client sends is also accepted, unless it is contradicted.
    #[must_use]
    pub fn trusted(mut self, key: impl Into<String>) -> Dependencies {
        self.trusted.insert(key.into());
        self
    }

    /// Sets the timeout of one look-up, which the deadline of the caller can shorten. Default: 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Dependencies {
        self.timeout = timeout;
        self
    }

    /// Returns the requirements of tools that can never hold, because no function is set for their entity or check.
    #[must_use]
    pub fn unknown<'a>(&self, specs: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<Unmet> {
        let is_unknown = |requirement: &&Requirement| match requirement.kind {
            RequirementKind::Entity => !self.entities.contains_key(requirement.name.as_str()),
            RequirementKind::Custom => !self.checks.contains_key(requirement.name.as_str()),
            _ => false,
        };
        let unknown_requirements = |spec: &'a ToolSpec| {
            spec.requires.iter().filter(is_unknown).map(|requirement| Unmet::new(spec, requirement))
        };
        specs.into_iter().flat_map(unknown_requirements).collect()
    }

    /// Checks the requirements of a tool, in the order of its specification, and returns the optional ones that do not
    /// hold. `args` are the arguments of the call, preferably as decoded, so that the look-ups use the values that the
    /// tool will receive.
    ///
    /// The values and the state that a called tool required must still exist, so the requirements of required tools
    /// are also checked, each once. Requirements on arguments and services were checked when that tool was called.
    ///
    /// # Errors
    ///
    /// [`ToolError::MissingDependencies`] with all requirements that do not hold and are not optional. The error of a
    /// look-up that fails; [`ToolError::Timeout`] and [`ToolError::Cancelled`].
    pub async fn check(
        &self,
        spec: &ToolSpec,
        args: &Value,
        ctx: &ToolContext,
        tools: &Registry,
    ) -> Result<Vec<Unmet>, ToolError> {
        if spec.requires.is_empty() {
            return Ok(Vec::new());
        }
        let mut unmet = Vec::new();
        for requirement in &spec.requires {
            let is_met = match requirement.kind {
                RequirementKind::Entity => self.entity_exists(spec, requirement, args, ctx).await,
                RequirementKind::Custom => match self.checks.get(requirement.name.as_str()) {
                    Some(passes) => self.ask(passes, args, ctx).await,
                    None => Ok(false),
                },
                _ => Ok(self.is_met(requirement, ctx)),
            };
            match is_met {
                Ok(true) if requirement.kind == RequirementKind::Tool => {
                    self.recheck_callee(requirement, ctx, tools, &mut unmet);
                }
                Ok(true) => {}
                Ok(false) => add_unmet(&mut unmet, Unmet::new(spec, requirement)),
                Err(_) if requirement.optional => add_unmet(&mut unmet, Unmet::new(spec, requirement)),
                Err(error) => return Err(error),
            }
        }
        let (optional, missing): (Vec<Unmet>, Vec<Unmet>) =
            unmet.into_iter().partition(|requirement| requirement.optional);
        if missing.is_empty() {
            return Ok(optional);
        }
        let suggested_order = suggested_order(&missing, spec, ctx, tools);
        let without_session = ctx.session().is_none_or(Session::is_of_turn)
            && missing.iter().any(|requirement| requirement.kind == RequirementKind::Tool);
        let tool = spec.name.to_string();
        Err(MissingDependencies { tool, missing, suggested_order, without_session }.into())
    }

    /// Returns whether a requirement holds that depends only on the context.
    fn is_met(&self, requirement: &Requirement, ctx: &ToolContext) -> bool {
        let name = requirement.name.as_str();
        match requirement.kind {
            RequirementKind::Context => {
                let trusted_only = self.trusted.contains(name);
                let is_trusted = !trusted_only || ctx.values().provenance(name) == Some(Provenance::Trusted);
                is_trusted && ctx.values().get(name).is_some_and(is_given)
            }
            RequirementKind::Session => ctx.session().is_some_and(|session| session.has(name)),
            RequirementKind::Tool => was_called(name, ctx),
            RequirementKind::Service => ctx.services().provides(name),
            RequirementKind::Entity | RequirementKind::Custom => false,
        }
    }

    /// Adds the requirements of a called tool, and of the tools that it requires, that no longer hold.
    fn recheck_callee(
        &self,
        tool: &Requirement,
        ctx: &ToolContext,
        tools: &Registry,
        unmet: &mut Vec<Unmet>,
    ) {
        let mut visited = BTreeSet::from([tool.name.as_str()]);
        let mut path: Vec<_> = requirements(tools, tool).into_iter().collect();
        while let Some((spec, remaining)) = path.last_mut() {
            let spec = *spec;
            let Some(requirement) = remaining.next() else {
                path.pop();
                continue;
            };
            if requirement.optional
                || depends_on_arguments(requirement)
                || requirement.kind == RequirementKind::Service
            {
                continue;
            }
            if !self.is_met(requirement, ctx) {
                add_unmet(unmet, Unmet { optional: tool.optional, ..Unmet::new(spec, requirement) });
            } else if requirement.kind == RequirementKind::Tool && visited.insert(requirement.name.as_str()) {
                path.extend(requirements(tools, requirement));
            }
        }
    }

    async fn entity_exists(
        &self,
        spec: &ToolSpec,
        requirement: &Requirement,
        args: &Value,
        ctx: &ToolContext,
    ) -> Result<bool, ToolError> {
        let value = identifier(spec, &requirement.argument, args).filter(|value| is_given(value));
        match (value, self.entities.get(requirement.name.as_str())) {
            (Some(value), Some(exists)) => self.ask(exists, value, ctx).await,
            _ => Ok(false),
        }
    }

    /// Calls a function of the program, until it times out or the caller cancels; a panic becomes an error.
    async fn ask(&self, lookup: &Arc<Lookup>, value: &Value, ctx: &ToolContext) -> Result<bool, ToolError> {
        let duration = ctx.timeout().map_or(self.timeout, |remaining| remaining.min(self.timeout));
        let lookup_result =
            tokio::time::timeout(duration, catch_panic_async(async { lookup(value, ctx).await }));
        match ctx.caller_token().run_until_cancelled(lookup_result).await {
            None => Err(ToolError::Cancelled),
            Some(Err(_)) => Err(ToolError::Timeout { duration }),
            Some(Ok(None)) => Err(ToolError::failed("a prerequisite of the tool could not be checked")),
            Some(Ok(Some(lookup_result))) => lookup_result,
        }
    }
}

impl Layer for Dependencies {
    fn stage(&self) -> Stage {
        Stage::Arguments
    }

    fn is_single(&self) -> bool {
        true
    }

    fn applies_to(&self, spec: &ToolSpec) -> bool {
        !spec.requires.is_empty()
    }

    fn before<'a>(&'a self, call: &'a Invocation<'a>) -> Option<BoxFuture<'a, Result<(), ToolError>>> {
        Some(Box::pin(async move {
            let (spec, ctx) = (call.spec(), call.ctx());
            // The look-ups use the values that the tool would receive; invalid arguments are reported after all
            // requirements hold.
            let arguments = call.arguments().unwrap_or(&Value::Null);
            let decoded_arguments = spec
                .requires
                .iter()
                .any(depends_on_arguments)
                .then(|| decoded(spec, arguments.clone(), ctx.dialect()));
            let decoded_arguments = decoded_arguments.and_then(Result::ok);
            let unmet = self
                .check(spec, decoded_arguments.as_ref().unwrap_or(arguments), ctx, call.registry())
                .await?;
            if !unmet.is_empty() {
                call.keep(self, unmet);
            }
            Ok(())
        }))
    }

    fn after<'a>(&'a self, call: &'a Invocation<'a>, outcome: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        if let (Some(unmet), Ok(result)) = (call.take::<Vec<Unmet>>(self), outcome) {
            report_unmet(&unmet, result);
        }
        None
    }
}

/// Records in the session of a call that the tool was called, if the call succeeded.
#[doc(hidden)]
pub fn record(ctx: &ToolContext, tool: impl Into<Text>, outcome: &Result<ToolResult, ToolError>) {
    if let Some(session) = ctx.session()
        && succeeded(outcome)
    {
        session.record_success(tool);
    }
}

/// Returns whether a call with this outcome counts as made: its result is not an error (see [`ToolResult::is_error`]),
/// and the tool does not wait for more input.
#[doc(hidden)]
#[must_use]
pub fn succeeded(outcome: &Result<ToolResult, ToolError>) -> bool {
    let is_done = |result: &ToolResult| !matches!(result.control, Control::NeedInput(_));
    outcome.as_ref().is_ok_and(|result| is_done(result) && !result.is_error())
}

/// The member of the details that lists the optional requirements that did not hold.
const UNMET: &str = "unmet_dependencies";

/// Lists the optional requirements that did not hold in `details.unmet_dependencies` of the result. Details of the
/// tool's own type are not changed.
fn report_unmet(unmet: &[Unmet], result: &mut ToolResult) {
    if result.details.is_null() {
        // For example, the declared result may be `null`.
        if result.structured == Structured::Details {
            result.structured = Structured::Json(Text::from("null"));
        }
        result.details = Value::Object(Map::new());
    }
    if let Value::Object(details) = &mut result.details {
        details.insert(String::from(UNMET), unmet.iter().map(Unmet::to_json).collect());
        result.added_to_details(UNMET);
    }
}

/// Returns whether a requirement depends on the arguments of the call.
fn depends_on_arguments(requirement: &Requirement) -> bool {
    matches!(requirement.kind, RequirementKind::Entity | RequirementKind::Custom)
}

fn was_called(tool: &str, ctx: &ToolContext) -> bool {
    ctx.session().is_some_and(|session| session.has_called(tool))
}

/// Returns the specification of a required tool, and an iterator over its requirements.
fn requirements<'a>(
    tools: &'a Registry,
    tool: &Requirement,
) -> Option<(&'a ToolSpec, std::slice::Iter<'a, Requirement>)> {
    let spec = tools.get(&tool.name)?.spec();
    Some((spec, spec.requires.iter()))
}

/// Adds a requirement once. It is required if any occurrence is not optional.
fn add_unmet(unmet: &mut Vec<Unmet>, added: Unmet) {
    match unmet.iter_mut().find(|existing| existing.is_same(&added)) {
        Some(existing) => existing.optional &= added.optional,
        None => unmet.push(added),
    }
}

/// Returns the tools to call first, each after the tools that it requires. Tools that were already called are omitted,
/// unless their calls no longer count.
fn suggested_order(missing: &[Unmet], spec: &ToolSpec, ctx: &ToolContext, tools: &Registry) -> Vec<String> {
    let required_tools =
        missing.iter().filter(|unmet| unmet.kind == RequirementKind::Tool).map(|unmet| unmet.name.as_str());
    let find = |name: &str| tools.get(name).map(|tool| tool.spec());
    let is_done = |name: &str| name == spec.name.as_str() || was_called(name, ctx);
    in_order(required_tools, find, is_done).into_iter().map(str::to_owned).collect()
}

/// Returns the argument that identifies an entity, under any of the names that it may be sent with.
fn identifier<'a>(spec: &ToolSpec, argument: &str, args: &'a Value) -> Option<&'a Value> {
    let args = args.as_object()?;
    match find_field(spec, argument) {
        ArgumentLookup::Field(field) => {
            let names = [field.wire_name(), field.name.as_str()];
            let aliases = field.aliases.iter().map(|alias| alias.as_str());
            names.into_iter().chain(aliases).find_map(|name| args.get(name))
        }
        ArgumentLookup::Open => args.get(argument),
        ArgumentLookup::Nothing => None,
    }
}

impl fmt::Debug for Dependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependencies")
            .field("entities", &self.entities.keys())
            .field("checks", &self.checks.keys())
            .field("trusted", &self.trusted)
            .field("timeout", &self.timeout)
            .finish()
    }
}
