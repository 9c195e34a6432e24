//! Constructors and messages of requirements.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Requirement, RequirementKind, ToolSpec};
use crate::base::frozen::Text;

const READ: &[Text] = &[Text::Static("read")];
const WRITE: &[Text] = &[Text::Static("write")];

impl ToolSpec {
    /// Returns the scopes that a caller needs: the declared scopes, or `read` for a tool declared read-only and
    /// `write` for any other tool.
    #[must_use]
    pub fn required_scopes(&self) -> &[Text] {
        if self.scopes.is_empty() { self.default_scopes() } else { &self.scopes }
    }

    /// Returns the scopes of a tool that declares none, based on its effects.
    pub(crate) fn default_scopes(&self) -> &[Text] {
        if self.effects.read_only && !self.effects.destructive { READ } else { WRITE }
    }
}

/// ```
/// use toolgen_runtime::spec::Requirement;
///
/// let session = Requirement::session("session_id").message("Active session required. Call session_start first.");
/// let plan = Requirement::entity("plan", "plan_slug").optional();
/// assert_eq!(session.message_or_default(), "Active session required. Call session_start first.");
/// assert_eq!(plan.message_or_default(), "Entity 'plan' must exist");
/// ```
impl Requirement {
    /// Requires a value of the call's context that is neither `null` nor empty.
    pub fn context(key: impl Into<Text>) -> Requirement {
        Requirement::new(RequirementKind::Context, key)
    }

    /// Requires a value of the session's state that is not `null`.
    pub fn session(key: impl Into<Text>) -> Requirement {
        Requirement::new(RequirementKind::Session, key)
    }

    /// Requires an existing entity, identified by an argument of the tool.
    pub fn entity(kind: impl Into<Text>, argument: impl Into<Text>) -> Requirement {
        Requirement { argument: argument.into(), ..Requirement::new(RequirementKind::Entity, kind) }
    }

    /// Requires a successful call of another tool in the same session.
    pub fn tool(name: impl Into<Text>) -> Requirement {
        Requirement::new(RequirementKind::Tool, name)
    }

    /// Requires a check that the program defines.
    pub fn custom(name: impl Into<Text>) -> Requirement {
        Requirement::new(RequirementKind::Custom, name)
    }

    /// Requires a service without which a toolbox cannot build the tool. It is a service of the toolbox's context or
    /// of a call, with a type of this name (`executor` is a `dyn Executor`), or a service that the program registered
    /// under this name.
    pub fn service(name: impl Into<Text>) -> Requirement {
        Requirement::new(RequirementKind::Service, name)
    }

    fn new(kind: RequirementKind, name: impl Into<Text>) -> Requirement {
        Requirement { kind, name: name.into(), argument: Text::EMPTY, message: Text::EMPTY, optional: false }
    }

    /// Sets the message for a caller if the requirement does not hold.
    #[must_use]
    pub fn message(mut self, text: impl Into<Text>) -> Requirement {
        self.message = text.into();
        self
    }

    /// Makes the requirement optional: it is checked and reported, but does not block a call.
    #[must_use]
    pub fn optional(mut self) -> Requirement {
        self.optional = true;
        self
    }

    /// Returns the message for a caller if the requirement does not hold: the message that was set, or the default of
    /// its kind.
    #[must_use]
    pub fn message_or_default(&self) -> Cow<'_, str> {
        if !self.message.is_empty() {
            return Cow::Borrowed(&self.message);
        }
        let name = &self.name;
        Cow::Owned(match self.kind {
            RequirementKind::Context => format!("Context '{name}' is required"),
            RequirementKind::Session => format!("Session state '{name}' is required"),
            RequirementKind::Entity => format!("Entity '{name}' must exist"),
            RequirementKind::Tool => format!("Tool '{name}' must be called first"),
            RequirementKind::Service => format!("Service '{name}' is required"),
            RequirementKind::Custom => format!("Check '{name}' must pass"),
        })
    }

    /// Returns why a tool of this name cannot be built without a service that it requires: the requirement's message,
    /// or `{tool} tool requires an executor`. For other kinds, see [`message_or_default`](Self::message_or_default).
    #[must_use]
    pub fn message_for(&self, tool: &str) -> Cow<'_, str> {
        if self.kind != RequirementKind::Service || !self.message.is_empty() {
            return self.message_or_default();
        }
        let starts_with_vowel = self.name.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']);
        Cow::Owned(format!(
            "{tool} tool requires {} {}",
            if starts_with_vowel { "an" } else { "a" },
            self.name
        ))
    }
}

impl RequirementKind {
    /// All kinds.
    pub const ALL: [RequirementKind; 6] = [
        RequirementKind::Context,
        RequirementKind::Session,
        RequirementKind::Entity,
        RequirementKind::Tool,
        RequirementKind::Service,
        RequirementKind::Custom,
    ];

    /// The name of the kind in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RequirementKind::Context => "context_exists",
            RequirementKind::Session => "session_state",
            RequirementKind::Entity => "entity_exists",
            RequirementKind::Tool => "tool_called",
            RequirementKind::Service => "service",
            RequirementKind::Custom => "custom",
        }
    }
}

/// Returns the requirements of a tool for other tools, without optional ones.
pub(crate) fn required_tools(spec: &ToolSpec) -> impl Iterator<Item = &Requirement> {
    let is_needed =
        |requirement: &&Requirement| requirement.kind == RequirementKind::Tool && !requirement.optional;
    spec.requires.iter().filter(is_needed)
}

/// Returns the requested tools and the tools that they require, each once and after all its requirements. Tools that
/// are done or do not exist are omitted. The requirements of a done tool are included, because they may have to run
/// again. There is no recursion, because a long chain could overflow the stack.
pub fn in_order<'a>(
    requested: impl IntoIterator<Item = &'a str>,
    find: impl Fn(&str) -> Option<&'a ToolSpec>,
    is_done: impl Fn(&str) -> bool,
) -> Vec<&'a str> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    let mut visit = |name: &'a str| {
        let is_new = seen.insert(name);
        find(name).filter(|_| is_new).map(|spec| (spec.name.as_str(), required_tools(spec)))
    };
    for name in requested {
        let mut path = Vec::from_iter(visit(name));
        while let Some((name, required)) = path.last_mut() {
            match required.next() {
                Some(next) => path.extend(visit(&next.name)),
                None => {
                    order.extend(Some(*name).filter(|name| !is_done(name)));
                    path.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_messages_are_stable() {
        let cases = [
            (Requirement::tool("a"), "Tool 'a' must be called first", "tool_called"),
            (Requirement::session("a"), "Session state 'a' is required", "session_state"),
            (Requirement::context("a"), "Context 'a' is required", "context_exists"),
            (Requirement::entity("a", "b"), "Entity 'a' must exist", "entity_exists"),
            (Requirement::custom("a"), "Check 'a' must pass", "custom"),
            (Requirement::service("a"), "Service 'a' is required", "service"),
        ];
        for (requirement, message, kind) in cases {
            assert_eq!(
                (requirement.message_or_default().as_ref(), requirement.kind.as_str()),
                (message, kind)
            );
            assert_eq!(requirement.message("custom message").message_or_default(), "custom message");
        }
        for (service, message) in [
            (Requirement::service("executor"), "shell tool requires an executor"),
            (Requirement::service("chat service"), "shell tool requires a chat service"),
            (Requirement::service("mail").message("custom message"), "custom message"),
            (Requirement::context("a"), "Context 'a' is required"),
        ] {
            assert_eq!(service.message_for("shell"), message);
        }
    }
}
