//! The principals on whose behalf a model calls tools.
//!
//! The program that hosts the agent authenticates a principal; this module derives what that principal may do with
//! tools. A call without a principal is the program's own: its scopes are not checked, because the program needs no
//! permission, but rate limits also apply to it. A program that serves calls of others must set a [`Principal`] in
//! each context.

use crate::base::frozen::{List, Text};
use crate::call::error::ToolError;
use crate::spec::ToolSpec;

/// A principal that the program has authenticated, such as the owner of an API key. Cheap to clone.
///
/// ```
/// use toolgen_runtime::{Effects, ToolName, ToolSpec, Principal};
///
/// let spec = ToolSpec { name: ToolName::new("list_plans"), effects: Effects::NONE, ..ToolSpec::EMPTY };
/// let reader = Principal::new("key-7").with_scopes(["read"]);
/// assert!(reader.check(&spec).is_ok());
/// let error = Principal::new("key-8").check(&spec).unwrap_err();
/// assert_eq!(error.to_string(), "Permission denied: API key missing scope 'read' for tool 'list_plans'");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// The ID of the principal, for records and limits. It is not the secret that authenticated it.
    pub id: Text,
    /// The scopes of the principal, compared exactly: no scope implies another.
    pub scopes: List<Text>,
    /// The tools the principal may call. `None` means all that its scopes allow; an empty list means no tool.
    pub tools: Option<List<Text>>,
    /// Maximum number of calls of the principal in the window of a rate limit. `None` means that of the rate limit.
    pub quota: Option<u32>,
    /// The kind of the principal in error messages, such as `user`. Empty means `API key`.
    pub kind: Text,
}

impl Principal {
    /// Creates a principal without scopes.
    pub fn new(id: impl Into<Text>) -> Principal {
        Principal { id: id.into(), ..Principal::default() }
    }

    /// Sets the scopes.
    #[must_use]
    pub fn with_scopes<S: Into<Text>>(mut self, scopes: impl IntoIterator<Item = S>) -> Principal {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Allows only these tools.
    #[must_use]
    pub fn with_tools<S: Into<Text>>(mut self, tools: impl IntoIterator<Item = S>) -> Principal {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the maximum number of calls of the principal in the window of a rate limit.
    #[must_use]
    pub fn with_quota(mut self, calls: u32) -> Principal {
        self.quota = Some(calls);
        self
    }

    /// Sets the kind of the principal in error messages: `user`, `account`, `team`. The default is `API key`.
    #[must_use]
    pub fn with_kind(mut self, kind: impl Into<Text>) -> Principal {
        self.kind = kind.into();
        self
    }

    fn kind(&self) -> &str {
        if self.kind.is_empty() { "API key" } else { &self.kind }
    }

    /// Returns the kind for messages to operators: not every principal is an API key.
    fn operator_kind(&self) -> &str {
        if self.kind.is_empty() { "principal" } else { &self.kind }
    }

    /// Whether the principal has this scope.
    #[must_use]
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|other| other == scope)
    }

    /// Whether the principal's list of tools allows a tool of this name.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == name))
    }

    /// Checks the scopes, then the list of tools.
    ///
    /// # Errors
    ///
    /// The errors of [`check_scopes`](Self::check_scopes) and [`check_tool`](Self::check_tool).
    pub fn check(&self, spec: &ToolSpec) -> Result<(), ToolError> {
        self.check_scopes(spec)?;
        self.check_tool(spec)
    }

    /// Checks that the principal has all [`required_scopes`](ToolSpec::required_scopes) of a tool.
    ///
    /// # Errors
    ///
    /// `Permission denied: API key missing scope '{scope}' for tool '{tool}'`, for the first missing scope. The kind
    /// that [`with_kind`](Self::with_kind) sets replaces `API key`.
    pub fn check_scopes(&self, spec: &ToolSpec) -> Result<(), ToolError> {
        match spec.required_scopes().iter().find(|scope| !self.has_scope(scope)) {
            None => Ok(()),
            Some(scope) => {
                let (kind, operator_kind, tool) = (self.kind(), self.operator_kind(), &spec.name);
                let text = format!("Permission denied: {kind} missing scope '{scope}' for tool '{tool}'");
                Err(ToolError::denied(text).with_operator_detail(format!(
                    "Permission denied: the {operator_kind} '{}' lacks the scope '{scope}' of the tool '{tool}'. Grant it with \
                     `Principal::with_scopes`; calls of the program itself have no principal",
                    self.id
                )))
            }
        }
    }

    /// Checks that the tool is on the principal's list of tools.
    ///
    /// # Errors
    ///
    /// `Permission denied: API key does not have access to tool '{tool}'`
    pub fn check_tool(&self, spec: &ToolSpec) -> Result<(), ToolError> {
        if self.has_tool(spec.name.as_str()) {
            return Ok(());
        }
        let (kind, operator_kind, tool) = (self.kind(), self.operator_kind(), &spec.name);
        let text = format!("Permission denied: {kind} does not have access to tool '{tool}'");
        Err(ToolError::denied(text).with_operator_detail(format!(
            "Permission denied: the tool '{tool}' is not on the list of the {operator_kind} '{}'. Add it with `Principal::with_tools`",
            self.id
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Effects, ToolName};

    fn tool(scopes: &[&'static str], effects: Effects) -> ToolSpec {
        let scopes = scopes.iter().copied().map(Text::Static).collect();
        ToolSpec { name: ToolName::new("plan_get"), scopes, effects, ..ToolSpec::EMPTY }
    }

    fn message_of(outcome: Result<(), ToolError>) -> String {
        outcome.map_or_else(
            |error| {
                assert_eq!(error.code(), "PERMISSION_DENIED");
                error.to_string()
            },
            |()| String::new(),
        )
    }

    #[test]
    fn refusal_names_the_kind_of_principal_and_operator_text_its_id() {
        let ada = Principal::new("ada").with_kind("user");
        let spec = tool(&["plans.write"], Effects::NONE);
        let error = ada.check(&spec).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Permission denied: user missing scope 'plans.write' for tool 'plan_get'"
        );
        let message = error.operator_text();
        assert!(message.contains("the user 'ada' lacks the scope 'plans.write'"), "{message}");
        assert!(message.contains("`Principal::with_scopes`"), "{message}");
        let error = ada.with_scopes(["plans.write"]).with_tools(["other"]).check(&spec).unwrap_err();
        assert_eq!(error.to_string(), "Permission denied: user does not have access to tool 'plan_get'");
        assert!(error.operator_text().contains("`Principal::with_tools`"), "{}", error.operator_text());
    }

    #[test]
    fn tool_requires_its_scopes_or_those_of_its_effects() {
        let contradicting = Effects { destructive: true, ..Effects::NONE };
        let cases: [(&[&'static str], Effects, &[&str]); 5] = [
            (&["plans.write", "plans.read"], Effects::NONE, &["plans.write", "plans.read"]),
            (&[], Effects::NONE, &["read"]),
            (&[], Effects::UNDECLARED, &["write"]),
            (&[], contradicting, &["write"]),
            (&["write"], Effects::NONE, &["write"]),
        ];
        for (scopes, effects, expected) in cases {
            let spec = tool(scopes, effects);
            let scopes: Vec<&str> = spec.required_scopes().iter().map(Text::as_str).collect();
            assert_eq!(scopes, expected);
        }
    }

    #[test]
    fn first_missing_scope_is_named() {
        let spec = tool(&["a", "b"], Effects::NONE);
        let cases: [(&[&'static str], &str); 4] = [
            (&["b", "a", "c"], ""),
            (&["a"], "Permission denied: API key missing scope 'b' for tool 'plan_get'"),
            (&["A", "b", "*"], "Permission denied: API key missing scope 'a' for tool 'plan_get'"),
            (&[], "Permission denied: API key missing scope 'a' for tool 'plan_get'"),
        ];
        for (scopes, text) in cases {
            let principal = Principal::new("p").with_scopes(scopes.iter().copied());
            assert_eq!(message_of(principal.check(&spec)), text);
        }
    }

    #[test]
    fn tool_list_is_checked_after_scopes() {
        let spec = tool(&[], Effects::NONE);
        let reader = Principal::new("p").with_scopes(["read"]);
        let denied_tool = "Permission denied: API key does not have access to tool 'plan_get'";
        assert_eq!(message_of(reader.check(&spec)), "");
        assert_eq!(message_of(reader.clone().with_tools(["plan_get"]).check(&spec)), "");
        assert_eq!(message_of(reader.clone().with_tools(["plan_set"]).check(&spec)), denied_tool);
        assert_eq!(message_of(reader.with_tools([""; 0]).check(&spec)), denied_tool);
        let missing = "Permission denied: API key missing scope 'read' for tool 'plan_get'";
        assert_eq!(message_of(Principal::new("p").with_tools(["plan_set"]).check(&spec)), missing);
    }
}
