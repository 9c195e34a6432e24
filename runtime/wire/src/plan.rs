//! Plans the tools of a request: selects which tools have strict schemas, under the limits on all tools together.
//!
//! A strict schema constrains the model, but a vendor accepts only a limited number of them. Each strict tool uses
//! part of the limits; optional fields and fields with several types use more. The plan makes as many tools strict as
//! fit: the cheapest first and, if costs are equal, in the given order. The other tools, and those that the strict
//! dialect rejects, are shown in the lax dialect of the same vendor. The same tools give the same plan.

mod needs;
mod reason;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use serde_json::Value;
use toolgen_core::internal::Forms;

use self::needs::{ExceededLimit, Needs};
pub use self::reason::{DecisionReason, ToolDecision};
use super::WireFormat;
use super::format::Format;
use super::properties::Selected;
use super::tool_search::Deferred;
use super::tools::{self, RefusedTool, RefusedTools};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::Dialects;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::schema::shape::render::Loss;
use toolgen_kernel::spec::{ToolSchema, ToolSpec};

/// The tools of a request, each with the dialect in which it is shown.
#[derive(Clone, Debug)]
pub struct ToolPlan {
    requested_dialect: &'static Dialect,
    tools: Value,
    decisions: Vec<ToolDecision>,
}

/// Options for the list of tools of a request.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    drop_excess: bool,
    pub(super) selected: Selected,
    pub(super) cache: Option<CacheTtl>,
    pub(super) deferred: Option<Deferred>,
    vendor_tools: Vec<Value>,
}

/// How long a vendor keeps a cached list of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheTtl {
    /// Five minutes after it was last used.
    FiveMinutes,
    /// An hour after it was last used.
    OneHour,
}

impl PlanOptions {
    /// Returns the tools whose definitions are sent.
    fn offered<'a>(&self, specs: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<&'a ToolSpec> {
        let is_replaced = |spec: &&ToolSpec| {
            self.vendor_tools
                .iter()
                .any(|tool| tool.get("name").and_then(Value::as_str) == Some(spec.name.as_str()))
        };
        specs.into_iter().filter(|spec| !is_replaced(spec)).collect()
    }

    /// Returns the type of the first tool of the vendor whose type starts with a prefix.
    pub(super) fn vendor_tool_of(&self, prefix: &str) -> Option<&str> {
        let types = self.vendor_tools.iter().filter_map(|tool| tool.get("type")?.as_str());
        types.into_iter().find(|kind| kind.starts_with(prefix))
    }

    /// Drops the last tools if there are more than a request can hold. The plan lists them. Without this option, too
    /// many tools are an error.
    #[must_use]
    pub fn drop_excess(mut self) -> PlanOptions {
        self.drop_excess = true;
        self
    }

    /// Adds up to this many example calls to each tool: as a [property](super::properties) if the vendor has it,
    /// otherwise to the description. Anthropic recommends one to five. Default: none.
    #[must_use]
    pub fn with_examples(mut self, max: usize) -> PlanOptions {
        self.selected.examples = max;
        self
    }

    /// Lets the vendor run programs that the model writes, if it can (Anthropic, OpenAI Responses), and lets these call
    /// the tools whose [hints](toolgen_kernel::spec::hints::Hints::callers) offer them to programs. Calls of programs pass
    /// the same layers as the others, and get the [structured](toolgen_kernel::ToolResult::structured) result as JSON.
    /// With Anthropic, such tools cannot be strict, and calls cannot be forbidden to be parallel.
    #[must_use]
    pub fn with_programs(mut self) -> PlanOptions {
        self.selected.programs = true;
        self
    }

    /// Adds the schema of results to each tool that declares one.
    #[must_use]
    pub fn with_output_schemas(mut self) -> PlanOptions {
        self.selected.output_schemas = true;
        self
    }

    /// Lets the vendor cache the request up to the last tool, where that has to be requested (Anthropic, Bedrock).
    #[must_use]
    pub fn cached(mut self, ttl: CacheTtl) -> PlanOptions {
        self.cache = Some(ttl);
        self
    }

    /// Lets the vendor load tools only when the model finds them; see [`WireFormat::defers`].
    #[must_use]
    pub fn deferred(mut self, deferred: Deferred) -> PlanOptions {
        self.deferred = Some(deferred);
        self
    }

    /// Adds a tool that the vendor defines, in the form of its API, with its version:
    /// `{"type": "web_search_20260318", "name": "web_search"}`. These tools come first.
    ///
    /// Gemini combines such tools with yours only if the options of the request set
    /// `{"toolConfig": {"includeServerSideToolInvocations": true}}`, and not on Vertex AI.
    ///
    /// The vendor runs most of them. Others, such as `{"type": "bash_20250124", "name": "bash"}`, are run by you: a tool of
    /// yours with the same name gets the calls, and its own definition is not sent.
    #[must_use]
    pub fn with_vendor_tool(mut self, tool: Value) -> PlanOptions {
        self.vendor_tools.push(tool);
        self
    }
}

/// Why there is no plan.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// These tools cannot be shown in the requested dialect, nor in the lax dialect of the same vendor.
    Refused(RefusedTools),
    /// There are more tools than a request can hold.
    TooMany {
        /// The vendor.
        provider: &'static str,
        /// The number of given tools.
        count: usize,
        /// The maximum number of tools in a request.
        max: usize,
    },
    /// The vendor of the format cannot search tools.
    CannotDefer(WireFormat),
    /// The vendor of the format does not accept references to tools that another tool found.
    SearchedByTool(WireFormat),
    /// These tools should be loaded, but are not among the tools.
    UnknownTools(Vec<Text>),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Refused(refused) => refused.fmt(f),
            PlanError::TooMany { provider, count, max } => write!(
                f,
                "{count} tools are too many for a request to {provider}, which allows {max}: offer a few toolsets, \
                 let the model search for tools, or drop the last tools (`PlanOptions::drop_excess`)"
            ),
            PlanError::CannotDefer(format) => write!(
                f,
                "{format} cannot defer tools; use a discovery (`ToolboxBuilder::discovery`) instead"
            ),
            PlanError::SearchedByTool(format) => write!(
                f,
                "{format} does not accept references to tools that another tool found; omit `Deferred::searched_by`, so \
                 that the vendor searches"
            ),
            PlanError::UnknownTools(names) => {
                let names: Vec<&str> = names.iter().map(Text::as_str).collect();
                write!(f, "tools to load that are not among the tools: {}", names.join(", "))
            }
        }
    }
}

toolgen_core::__readable_debug!(PlanError);

impl std::error::Error for PlanError {}

impl ToolPlan {
    /// Returns the tools for the request, as [`WireFormat::tools`] does.
    #[must_use]
    pub fn tools(&self) -> &Value {
        &self.tools
    }

    /// Like [`tools`](Self::tools), without a copy.
    #[must_use]
    pub fn into_tools(self) -> Value {
        self.tools
    }

    /// Returns how each tool is shown and why, in the given order.
    #[must_use]
    pub fn decisions(&self) -> &[ToolDecision] {
        &self.decisions
    }

    /// Returns the dialect in which a tool is shown; `None` if it is not shown.
    #[must_use]
    pub fn dialect_of(&self, tool: &str) -> Option<&'static Dialect> {
        self.decisions.iter().find(|decision| decision.tool == *tool)?.dialect
    }

    /// Returns the dialect of the arguments for each tool, for
    /// [`Turn::with_dialect`](toolgen_kernel::Turn::with_dialect).
    #[must_use]
    pub fn dialects(&self) -> Dialects {
        let shown =
            self.decisions.iter().filter_map(|decision| Some((decision.tool.to_string(), decision.dialect?)));
        Dialects::except(self.requested_dialect, shown)
    }
}

/// A tool for which no decision is made yet.
struct Candidate<'a> {
    spec: &'a ToolSpec,
    forms: Forms<'a>,
    dialect: &'static Dialect,
    /// The tool as it is shown; `None` if not decided yet.
    rendered: Option<ToolSchema<'a>>,
    /// What the tool uses of the limits as a strict tool.
    needs: Needs,
    reason: DecisionReason,
}

impl WireFormat {
    /// Plans the tools of a request for a dialect such as
    /// [`ANTHROPIC_STRICT`](toolgen_kernel::schema::dialect::ANTHROPIC_STRICT). A tool that the dialect rejects, or
    /// that exceeds its limits on all tools of a request, is shown in the lax dialect of the same vendor.
    ///
    /// ```
    /// use toolgen_runtime::schema::dialect::OPENAI_STRICT;
    /// use toolgen_runtime::wire::WireFormat;
    /// use toolgen_runtime::{AgentTool as _, Turn, tool, toolset};
    ///
    /// /// Adds two numbers.
    /// #[tool(undocumented)]
    /// fn add(a: i32, b: i32) -> i32 {
    ///     a + b
    /// }
    ///
    /// # fn main() -> Result<(), toolgen_runtime::wire::PlanError> {
    /// let tools = toolset![add];
    /// let plan = WireFormat::OpenAiResponses.plan(&OPENAI_STRICT, tools.iter().map(|tool| tool.spec()))?;
    /// assert_eq!(plan.tools()[0]["strict"], true);
    /// assert_eq!(plan.decisions()[0].to_string(), "add: openai-strict");
    ///
    /// // The calls of the reply are decoded in the dialects in which their tools were shown.
    /// let turn = Turn::new("turn-1").with_dialect(plan.dialects());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns all tools that neither dialect can express, or [`PlanError::TooMany`] if there are too many tools.
    pub fn plan<'a>(
        self,
        dialect: &'static Dialect,
        specs: impl IntoIterator<Item = &'a ToolSpec>,
    ) -> Result<ToolPlan, PlanError> {
        self.plan_with(dialect, specs, &PlanOptions::default())
    }

    /// Like [`plan`](Self::plan), with options.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`plan`](Self::plan).
    pub fn plan_with<'a>(
        self,
        dialect: &'static Dialect,
        specs: impl IntoIterator<Item = &'a ToolSpec>,
        options: &PlanOptions,
    ) -> Result<ToolPlan, PlanError> {
        let mut specs = options.offered(specs);
        let limit = dialect.requests.tools.unwrap_or(usize::MAX).saturating_sub(options.vendor_tools.len());
        if specs.len() > limit && !options.drop_excess {
            return Err(PlanError::TooMany { provider: dialect.title, count: specs.len(), max: limit });
        }
        let dropped = specs.split_off(specs.len().min(limit));
        let candidates = match (dialect.fallback, dialect.requests.strict_tools) {
            (Some(lax), Some(_)) => render_cheapest_strict(&specs, dialect, lax),
            (lax, _) => {
                let mut candidates = candidates(&specs, dialect)?;
                lax.into_iter().for_each(|lax| relax(&mut candidates, dialect, lax));
                candidates
            }
        };
        let (tools, mut decisions) = render_candidates(candidates, self.format(), options.selected)?;
        decisions.extend(dropped.into_iter().map(|spec| ToolDecision {
            tool: spec.name.to_text(),
            dialect: None,
            reason: DecisionReason::TooMany { most: limit },
            losses: Vec::new(),
            lost: Vec::new(),
        }));
        let tools = self.arrange(tools, options, decisions.iter().map(|decision| decision.tool.as_str()))?;
        Ok(ToolPlan { requested_dialect: dialect, tools, decisions })
    }

    /// Like [`tools_in`](Self::tools_in), with options. Limits on all tools of a request are not applied, see
    /// [`plan_with`](Self::plan_with).
    ///
    /// # Errors
    ///
    /// Returns all tools that the dialect cannot express, or an error if the format does not support an option.
    pub fn tools_with<'a>(
        self,
        dialect: &Dialect,
        specs: impl IntoIterator<Item = &'a ToolSpec>,
        options: &PlanOptions,
    ) -> Result<Value, PlanError> {
        let specs = options.offered(specs);
        let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        let tools =
            tools::render(specs, dialect, self.format(), options.selected).map_err(PlanError::Refused)?;
        self.arrange(tools, options, names)
    }

    /// Returns the value for a request with these tools, and with those of the vendor.
    fn arrange<'a>(
        self,
        tools: Vec<Value>,
        options: &PlanOptions,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Value, PlanError> {
        let names: Vec<&str> = names.into_iter().collect();
        if let Some(deferred) = &options.deferred {
            deferred.check(self, &names)?;
        }
        let format = self.format();
        let mut list = (format.list)((format.arrange)(tools, options));
        let tools = match &mut list {
            Value::Object(config) => config.get_mut("tools").and_then(Value::as_array_mut),
            list => list.as_array_mut(),
        };
        if let Some(tools) = tools {
            tools.splice(0..0, options.vendor_tools.iter().cloned());
        }
        Ok(list)
    }
}

/// Renders each tool in the requested dialect, or else in the lax dialect.
fn candidates<'a>(
    specs: &[&'a ToolSpec],
    dialect: &'static Dialect,
) -> Result<Vec<Candidate<'a>>, PlanError> {
    let (mut candidates, mut refused) = (Vec::with_capacity(specs.len()), Vec::new());
    for &spec in specs {
        let forms = Forms::of(spec);
        let mut add = |dialect, rendered: ToolSchema<'a>, reason, forms| {
            let needs =
                if reason == DecisionReason::Wanted { Needs::of(&rendered.schema) } else { Needs::default() };
            candidates.push(Candidate { spec, forms, dialect, rendered: Some(rendered), needs, reason });
        };
        let lax = || dialect.fallback.map(|lax| (lax, forms.schema(lax)));
        let reasons = match forms.schema(dialect) {
            Ok(rendered) => {
                match (withheld(&rendered), lax()) {
                    (Some(losses), Some((lax, Ok(schema)))) => {
                        add(lax, schema, DecisionReason::Withheld(losses), forms);
                    }
                    _ => add(dialect, rendered, DecisionReason::Wanted, forms),
                }
                continue;
            }
            Err(reasons) => reasons,
        };
        match lax() {
            Some((lax, Ok(schema))) => add(lax, schema, DecisionReason::Refused(reasons), forms),
            Some((_, Err(reasons))) => refused.push(RefusedTool::of(spec, reasons)),
            None => refused.push(RefusedTool::of(spec, reasons)),
        }
    }
    if refused.is_empty() { Ok(candidates) } else { Err(PlanError::Refused(RefusedTools { tools: refused })) }
}

/// Returns the losses that prevent a model from sending a value that the tool accepts.
fn withheld(schema: &ToolSchema<'_>) -> Option<Vec<Loss>> {
    let losses: Vec<Loss> = schema.losses.iter().filter(|loss| loss.withholds_values()).cloned().collect();
    (!losses.is_empty()).then_some(losses)
}

/// Finds the tools that exceed the limits on strict tools, and renders them in the lax dialect.
fn relax(candidates: &mut [Candidate<'_>], strict: &'static Dialect, lax: &'static Dialect) {
    let limits = &strict.requests;
    let mut order: Vec<(u64, usize)> = candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| candidate.dialect == strict)
        .map(|(index, candidate)| (candidate.needs.cost(limits), index))
        .collect();
    order.sort_unstable();
    let mut used = Needs::default();
    for (_, index) in order {
        let Some(candidate) = candidates.get_mut(index) else { continue };
        let Some(ExceededLimit { name, max, needs, remaining }) = used.exceeded(candidate.needs, limits)
        else {
            used.add(candidate.needs);
            continue;
        };
        candidate.rendered = None;
        candidate.dialect = lax;
        candidate.reason = DecisionReason::Limit { of: name, most: max, required: needs, remaining };
    }
}

/// Renders the few tools that cost least in the strict dialect, and the others in the lax dialect. The cost of a tool
/// is known only after it is rendered. Every optional argument has a cost, so tools with many optional arguments are
/// not rendered if enough cheaper tools exist. Of a thousand tools, only some are rendered twice.
fn render_cheapest_strict<'a>(
    specs: &[&'a ToolSpec],
    strict: &'static Dialect,
    lax: &'static Dialect,
) -> Vec<Candidate<'a>> {
    let limits = &strict.requests;
    let candidate = |&spec: &&'a ToolSpec| Candidate {
        spec,
        forms: Forms::of(spec),
        dialect: lax,
        rendered: None,
        needs: Needs::default(),
        reason: DecisionReason::Wanted,
    };
    let mut candidates: Vec<Candidate<'a>> = specs.iter().map(candidate).collect();
    let minimum = |candidate: &Candidate<'_>| Needs::minimum(candidate.forms.optional().len());
    // The cost, the index of the tool, and whether the cost is exact or only a minimum.
    let mut queue: BinaryHeap<Reverse<(u64, usize, bool)>> = candidates
        .iter()
        .enumerate()
        .map(|(index, candidate)| Reverse((minimum(candidate).cost(limits), index, false)))
        .collect();
    let mut used = Needs::default();
    while let Some(Reverse((_, index, is_exact))) = queue.pop() {
        let Some(candidate) = candidates.get_mut(index) else { continue };
        let needs = if is_exact { candidate.needs } else { Needs::minimum(0) };
        let exceeded = used.exceeded(needs, limits);
        if !is_exact && exceeded.is_none() {
            match candidate.forms.schema(strict).map(|schema| (withheld(&schema), schema)) {
                Ok((Some(losses), _)) => candidate.reason = DecisionReason::Withheld(losses),
                Ok((None, schema)) => {
                    candidate.needs = Needs::of(&schema.schema);
                    candidate.rendered = Some(schema);
                    queue.push(Reverse((candidate.needs.cost(limits), index, true)));
                }
                Err(reasons) => candidate.reason = DecisionReason::Refused(reasons),
            }
        } else if let Some(ExceededLimit { name, max, needs, remaining }) = exceeded {
            candidate.rendered = None;
            candidate.reason = DecisionReason::Limit { of: name, most: max, required: needs, remaining };
        } else {
            used.add(needs);
            candidate.dialect = strict;
        }
    }
    candidates
}

/// Renders each tool as it is shown.
fn render_candidates(
    candidates: Vec<Candidate<'_>>,
    format: &Format,
    selected: Selected,
) -> Result<(Vec<Value>, Vec<ToolDecision>), PlanError> {
    let (mut tools, mut decisions) =
        (Vec::with_capacity(candidates.len()), Vec::with_capacity(candidates.len()));
    let mut refused = Vec::new();
    for Candidate { spec, forms, dialect, rendered, needs: _, reason } in candidates {
        let mut schema = match rendered.map_or_else(|| forms.schema(dialect), Ok) {
            Ok(schema) => schema,
            Err(reasons) => {
                refused.push(RefusedTool::of(spec, reasons));
                continue;
            }
        };
        let losses = std::mem::take(&mut schema.losses);
        let (tool, lost) = tools::entry(spec, schema, dialect, format, selected);
        tools.push(tool);
        let dialect = Some(dialect);
        decisions.push(ToolDecision { tool: spec.name.to_text(), dialect, reason, losses, lost });
    }
    if refused.is_empty() {
        Ok((tools, decisions))
    } else {
        Err(PlanError::Refused(RefusedTools { tools: refused }))
    }
}
