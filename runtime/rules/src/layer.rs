//! The layer that applies rules to the calls of a toolbox.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use toolgen_core::internal::sha256::sha256;
use toolgen_core::spec::Effects;
use toolgen_core::{Def, List, Schema, Text, ToolSpec};
use toolgen_kernel::BoxFuture;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::principal::Principal;
use toolgen_kernel::call::store::{OnFailure, Store};
use toolgen_kernel::layers::middleware::{MiddlewareDecision, ToolRequest};
use toolgen_kernel::layers::rate::{WindowLimit, charged_principal, check};
use toolgen_kernel::layers::{Layer, Stage};

use crate::node::CallView;
use crate::rule::{Action, Rule, Rules};
use crate::tool_rules::{Matched, ToolRules};

/// Maximum number of tools whose compiled rules are kept.
const MAX_KEPT: usize = 10_000;

/// Applies [`Rules`] to the calls of a toolbox: `Toolbox::builder(&registry).layer(RulesLayer::new(rules))`.
///
/// The most restrictive rule decides: a call that a rule denies is refused; one that exceeds a rate is refused with the
/// code `RATE_LIMITED`; one that a rule asks about needs an [approval](toolgen_kernel::layers::approval). Every rate
/// that matches counts the call, once: when it is made, and not when it is resumed. A condition that has no value for a
/// call, for instance because of an overflow, counts as matched.
///
/// Building the toolbox fails if a rule does not fit its tools.
///
/// ```
/// use toolgen_runtime::rules::{Rules, RulesLayer};
/// use toolgen_runtime::{Registry, Toolbox, tool, toolset};
///
/// /// Pays a person.
/// #[tool(undocumented)]
/// fn pay(to: &str, amount: u32) -> String {
///     format!("paid {amount} to {to}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rules = Rules::parse(["deny pay when args.amount > 5000"])?;
/// let toolbox = Toolbox::builder(&Registry::new(toolset![pay])?).layer(RulesLayer::new(rules)).build()?;
/// let response = toolbox.call("pay", serde_json::json!({"to": "Ada", "amount": 7000})).await;
/// assert_eq!(response.text(), "The rule `deny pay when args.amount > 5000` applies.");
/// # Ok(())
/// # }
/// ```
pub struct RulesLayer {
    rules: Rules,
    /// The counts of each rule that limits calls, and the prefix of their IDs.
    rates: Vec<Option<(WindowLimit, String)>>,
    compiled: RwLock<BTreeMap<String, Arc<Compiled>>>,
}

/// The rules about a tool, with the parts of its specification that they were compiled for.
pub(crate) struct Compiled {
    input: Schema,
    defs: List<Def>,
    category: Text,
    effects: Effects,
    rules: ToolRules,
}

impl Compiled {
    /// Returns whether the rules were compiled for this tool. The parts that are kept alive here are compared by their
    /// addresses.
    fn fits(&self, spec: &ToolSpec) -> bool {
        std::ptr::eq(self.input.shape(), spec.input.shape())
            && (std::ptr::eq(&*self.defs, &*spec.defs) || (self.defs.is_empty() && spec.defs.is_empty()))
            && self.category == spec.category
            && self.effects == spec.effects
    }
}

/// Returns the layer of rules that the compiler has checked, each with its reason and place. A rule that cannot be read
/// denies all calls.
#[doc(hidden)]
#[must_use]
pub fn generated(rules: &[[&'static str; 3]]) -> RulesLayer {
    let rule = |[line, reason, place]: &[&'static str; 3]| {
        let rule = Rule::parse(line).or_else(|_| {
            Rule::new(Action::Deny, "*", None)
                .map(|rule| rule.with_reason(format!("The rule `{line}` cannot be read.")))
        });
        rule.map(|rule| if reason.is_empty() { rule } else { rule.with_reason(*reason) }.with_place(*place))
    };
    RulesLayer::new(rules.iter().filter_map(|fields| rule(fields).ok()).collect())
}

impl RulesLayer {
    /// Creates the layer.
    #[must_use]
    pub fn new(rules: Rules) -> RulesLayer {
        let mut names: Vec<String> = Vec::new();
        let rates = rules.as_slice().iter().map(|rule| {
            let Action::Rate { limit, per } = rule.action() else { return None };
            let name = format!("{} per {per:?} when {}", rule.selector(), rule.condition().unwrap_or("true"));
            // Rules that are written twice count twice.
            let copies = names.iter().filter(|other| **other == name).count();
            let hash = sha256(format!("{copies} {name}").as_bytes());
            names.push(name);
            let window =
                WindowLimit::new().with_window(per).with_per_tool(limit).with_per_principal(u32::MAX);
            Some((window, format!("rule/{}/", hash.get(..16).unwrap_or(&hash))))
        });
        RulesLayer { rates: rates.collect(), rules, compiled: RwLock::default() }
    }

    /// Counts the calls of rates in a store, for all processes of a deployment. Rules with the same tools, condition
    /// and window share their counts.
    #[must_use]
    pub fn shared(self, store: impl Store + 'static) -> RulesLayer {
        let store: Arc<dyn Store> = Arc::new(store);
        self.with_windows(|window| window.shared(Arc::clone(&store)))
    }

    /// Sets what happens to calls that match a rate while the store cannot be reached; see
    /// [`WindowLimit::on_failure`].
    #[must_use]
    pub fn on_failure(self, on_failure: OnFailure) -> RulesLayer {
        self.with_windows(|window| window.on_failure(on_failure))
    }

    fn with_windows(mut self, change: impl Fn(WindowLimit) -> WindowLimit) -> RulesLayer {
        let rates = self.rates.into_iter().map(|rate| rate.map(|(window, name)| (change(window), name)));
        self.rates = rates.collect();
        self
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn compiled(&self, spec: &ToolSpec) -> Arc<Compiled> {
        {
            let kept = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(compiled) = kept.get(spec.name.as_str()).filter(|compiled| compiled.fits(spec)) {
                return Arc::clone(compiled);
            }
        }
        let rules = self.rules.for_tool(spec);
        // Parsed schemas are shared by their copies.
        let _ = spec.input.shape();
        let compiled = Arc::new(Compiled {
            input: spec.input.clone(),
            defs: spec.defs.clone(),
            category: spec.category.clone(),
            effects: spec.effects.clone(),
            rules,
        });
        let mut kept = self.compiled.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(spec.name.to_string(), Arc::clone(&compiled));
        compiled
    }

    /// Counts a call for rates, and returns the first error.
    async fn count(&self, rates: &[usize], request: &ToolRequest<'_>) -> Result<(), ToolError> {
        for index in rates {
            let (Some(Some((window, name))), Some(rule)) =
                (self.rates.get(*index), self.rules.as_slice().get(*index))
            else {
                continue;
            };
            let charged = Principal::new(format!("{name}{}", charged_principal(request.ctx).id));
            check(window, &charged, request.spec, request.ctx).await.map_err(|error| {
                if error.code() == "RATE_LIMITED" { exceeded(*index, rule, request.spec) } else { error }
            })?;
        }
        Ok(())
    }
}

fn exceeded(index: usize, rule: &Rule, spec: &ToolSpec) -> ToolError {
    let sentence = if rule.reason().is_empty() { String::new() } else { format!(" {}", rule.reason()) };
    let text =
        format!("Rate limit exceeded: '{}' was called too often. Try again later.{sentence}", spec.name);
    ToolError::failed_with("RATE_LIMITED", text).with_operator_detail(detail(index, rule, &Matched::Yes))
}

/// Names a rule for engineers.
fn detail(index: usize, rule: &Rule, matched: &Matched) -> String {
    let place = if rule.place().is_empty() { String::new() } else { format!(" ({})", rule.place()) };
    let failed = match matched {
        Matched::Failed(reason) => format!("; its condition has no value: {reason}, so it counts as matched"),
        _ => String::new(),
    };
    format!("rule {} `{rule}`{place} applied{failed}", index + 1)
}

/// Returns the sentence about a call for a model and for people.
fn sentence(rule: &Rule, matched: &Matched) -> String {
    match matched {
        Matched::Failed(reason) => {
            format!("{} Its condition could not be evaluated: {reason}.", rule.sentence())
        }
        _ => rule.sentence(),
    }
}

/// Returns what conditions can see of a call.
fn view<'a>(arguments: &'a serde_json::Value, ctx: &'a ToolContext) -> CallView<'a> {
    let session = ctx.session().filter(|session| !session.is_passing());
    let view = CallView::new(arguments)
        .with_session(session.map_or("", |session| session.id()))
        .with_agent(ctx.agent_id().unwrap_or_default())
        .with_depths(ctx.depth(), ctx.agent_depth());
    match ctx.principal() {
        Some(principal) => view.with_principal(&principal.id, &principal.scopes),
        None => view,
    }
}

impl Layer for RulesLayer {
    fn stage(&self) -> Stage {
        Stage::Decide
    }

    fn applies_to(&self, spec: &ToolSpec) -> bool {
        self.rules.as_slice().iter().any(|rule| rule.selects(spec))
    }

    fn check(&self, tools: &[&ToolSpec]) -> Result<(), String> {
        self.rules.check(tools.iter().copied()).map_err(|error| error.to_string())
    }

    fn decide<'a>(&'a self, request: &'a ToolRequest<'a>) -> Option<BoxFuture<'a, MiddlewareDecision>> {
        let compiled = self.compiled(request.spec);
        let view = view(request.arguments, request.ctx);
        let (mut asks, mut rates): (Vec<String>, Vec<usize>) = (Vec::new(), Vec::new());
        for (index, rule, matched) in compiled.rules.applying(&view) {
            match rule.action() {
                Action::Deny => {
                    let error = ToolError::denied(sentence(rule, &matched));
                    let error = error.with_operator_detail(detail(index, rule, &matched));
                    return Some(decided(MiddlewareDecision::Fail(Box::new(error))));
                }
                Action::Ask => {
                    let sentence = sentence(rule, &matched);
                    if !asks.contains(&sentence) {
                        asks.push(sentence);
                    }
                }
                // A resumed call was counted when it was made.
                Action::Rate { .. } if request.approved() => {}
                Action::Rate { .. } => rates.push(index),
            }
        }
        let decision = if asks.is_empty() {
            MiddlewareDecision::Allow
        } else {
            MiddlewareDecision::NeedApproval(asks.join("\n"))
        };
        if rates.is_empty() {
            return (decision != MiddlewareDecision::Allow).then(|| decided(decision));
        }
        Some(Box::pin(async move {
            match self.count(&rates, request).await {
                Ok(()) => decision,
                Err(error) => MiddlewareDecision::Fail(Box::new(error)),
            }
        }))
    }
}

fn decided<'a>(decision: MiddlewareDecision) -> BoxFuture<'a, MiddlewareDecision> {
    Box::pin(std::future::ready(decision))
}

impl fmt::Debug for RulesLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RulesLayer").field("rules", &self.rules).finish_non_exhaustive()
    }
}
