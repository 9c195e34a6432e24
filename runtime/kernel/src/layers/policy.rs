//! Policies of a context: [`EffectLimits`] on the effects of tools, and [`PolicyRules`] on which tools are available.
//!
//! Every decision is a pure function of a [`ToolSpec`]: no tool is executed to find out whether it is allowed, and a
//! policy can report the tools that it would refuse before any model sees them.
//!
//! ```
//! use toolgen_runtime::call::limits::EffectLimits;
//! use toolgen_runtime::layers::policy::{Policy, PolicyRules};
//! use toolgen_runtime::{Effects, ToolName, ToolSpec, spec::Network};
//!
//! let fetch = ToolSpec {
//!     name: ToolName::new("web_fetch"),
//!     effects: Effects { network: Network::Any, open_world: true, ..Effects::NONE },
//!     ..ToolSpec::EMPTY
//! };
//! let offline = Policy::new(EffectLimits { network: Network::None, ..EffectLimits::ANY });
//! let error = offline.check(&fetch).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "Permission denied: tool 'web_fetch' may do more than this context allows:\n\
//!      - network: it may reach any host (allowed: none)"
//! );
//! let rules = PolicyRules::builder().include(["web_*"]).exclude(["effect:destructive"]).build()?;
//! assert!(Policy::new(EffectLimits::ANY).with_rules(rules).check(&fetch).is_ok());
//! # Ok::<(), toolgen_runtime::layers::policy::RulesError>(())
//! ```

mod rules;

use std::fmt;

pub use rules::{EffectKind, PolicyRules, RuleDecision, RuleError, RuleProblem, RulesBuilder, RulesError};

use toolgen_core::internal::Check;

use crate::base::frozen::Text;
use crate::call::error::ToolError;
use crate::call::limits::{EffectLimits, LimitViolation};
use crate::spec::{Effects, ToolSpec};

/// The effects that tools may have in a context, and the tools that are available. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// The limits on the effects of a tool.
    pub limits: EffectLimits,
    /// The rules on which tools are available.
    pub rules: PolicyRules,
}

impl Policy {
    /// Creates a policy that allows every tool within these limits.
    #[must_use]
    pub fn new(limits: EffectLimits) -> Policy {
        Policy { limits, rules: PolicyRules::default() }
    }

    /// Sets the rules on which tools are available.
    #[must_use]
    pub fn with_rules(mut self, rules: PolicyRules) -> Policy {
        self.rules = rules;
        self
    }

    /// Checks a tool against the rules and the limits.
    ///
    /// # Errors
    ///
    /// Returns [`ToolError::Denied`] with the deciding rule and every effect that exceeds the limits, in one message.
    pub fn check(&self, spec: &ToolSpec) -> Result<(), ToolError> {
        self.check_with(spec, &spec.effects)
    }

    /// Like [`check`](Self::check), for a tool whose effects in this context differ from its declared ones. Rules
    /// apply to the declared effects.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`check`](Self::check).
    pub fn check_with(&self, spec: &ToolSpec, effects: &Effects) -> Result<(), ToolError> {
        if self.rules.allows(spec) && self.limits.allows(effects) {
            return Ok(());
        }
        Err(ToolError::denied(self.explain_with(spec, effects).to_string()))
    }

    /// Returns the decision of the policy about a tool, and its reason.
    #[must_use]
    pub fn explain(&self, spec: &ToolSpec) -> Explanation {
        self.explain_with(spec, &spec.effects)
    }

    fn explain_with(&self, spec: &ToolSpec, effects: &Effects) -> Explanation {
        Explanation {
            tool: spec.name.to_text(),
            decision: self.rules.explain(spec),
            excess: self.limits.violations(effects),
            undeclared: *effects == Effects::UNDECLARED,
        }
    }

    /// Returns explanations for those of these tools that the policy refuses, in order.
    pub fn refused<'a>(&self, specs: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<Explanation> {
        let explanations = specs.into_iter().map(|spec| self.explain(spec));
        explanations.filter(|explanation| !explanation.is_allowed()).collect()
    }
}

impl Check<ToolSpec, ToolError> for EffectLimits {
    fn checked(&self, spec: &ToolSpec) -> Result<(), ToolError> {
        if self.allows(&spec.effects) { Ok(()) } else { Policy::new(self.clone()).check(spec) }
    }
}

/// The note on a tool that has all effects, either because it declares them or because it does not rule them out.
const ASSUMED: &str = "\nEffects that a tool does not rule out are assumed, and this tool rules out none.";

/// The decision of a [`Policy`] about a tool. For a refused tool, `Display` writes the message for the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The tool.
    pub tool: Text,
    /// The decision of the rules.
    pub decision: RuleDecision,
    /// The effects of the tool that exceed the limits.
    pub excess: Vec<LimitViolation>,
    /// Whether the tool rules out no effect, so that all effects are assumed.
    pub undeclared: bool,
}

impl Explanation {
    /// Returns whether the tool may be called.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.decision.is_allowed() && self.excess.is_empty()
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explanation { tool, decision, excess, undeclared } = self;
        if self.is_allowed() {
            return match decision {
                RuleDecision::Allowed { rule: Some(rule) } => {
                    write!(f, "tool '{tool}' is included by '{rule}'")
                }
                _ => write!(f, "tool '{tool}' is allowed"),
            };
        }
        f.write_str("Permission denied: ")?;
        match decision {
            RuleDecision::Allowed { .. } => write!(f, "tool '{tool}' may do more than this context allows")?,
            RuleDecision::Excluded { rule } => write!(f, "tool '{tool}' is excluded by the rule '{rule}'")?,
            RuleDecision::NotIncluded => write!(f, "tool '{tool}' is not included by any rule")?,
        }
        match (excess.is_empty(), decision.is_allowed()) {
            (true, _) => {}
            (false, true) => f.write_str(":")?,
            (false, false) => f.write_str(", and it may do more than this context allows:")?,
        }
        for violation in excess {
            write!(f, "\n- {violation}")?;
        }
        let by_effect = matches!(decision, RuleDecision::Excluded { rule } if rule.contains("effect:"));
        if *undeclared && (by_effect || !excess.is_empty()) {
            f.write_str(ASSUMED)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
