//! The keys of every object of a manifest.
//!
//! The reader reports any other key, and a test compares these tables with `specs/manifest.schema.json`.

/// The keys of a kind of object.
#[derive(Debug)]
pub(super) struct Keys {
    /// The noun for the object in a message: `a tool`.
    pub(super) what: &'static str,
    /// The keys, in groups.
    pub(super) groups: &'static [&'static [&'static str]],
}

impl Keys {
    /// Returns all keys.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.groups.concat()
    }

    /// Returns the help for a key that a user may expect in a tool, but that belongs elsewhere.
    pub(super) fn hint(&self, key: &str) -> Option<String> {
        if self.what != TOOL.what {
            return None;
        }
        let plans = [("command", COMMAND), ("http", HTTP), ("complete", COMPLETE), ("agent", AGENT)];
        let has_key = |(_, keys): &&(&str, Keys)| keys.names().contains(&key);
        Some(match key {
            "name" => "the key of a tool under `tools` is its name".to_owned(),
            "blocking" | "crate" => format!("`{key}` is for functions written in Rust; leave it out"),
            _ => format!("move it to `{}`", plans.iter().find(has_key)?.0),
        })
    }
}

/// The keys that determine the kind of a tool.
pub(super) const KINDS: &[&str] = &["command", "http", "function", "compose", "complete", "effect", "agent"];

/// The attributes of a tool that a file may set for all its tools.
const SHARED_ATTRIBUTES: &[&str] = &[
    "category",
    "scopes",
    "timeout",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "pure",
    "files",
    "network",
    "spawns",
    "requires",
    "service",
    "reads",
    "writes",
    "exclusive",
    "result_limit",
    "slim",
    "projection",
    "exact",
    "deprecated",
];

/// The keys for checks of a tool.
const CHECK_ATTRIBUTES: &[&str] = &["undocumented", "dialects"];

/// The attributes that each tool sets itself.
const TOOL_ATTRIBUTES: &[&str] =
    &["label", "returns", "use_for", "doc_override", "examples", "hints", "exactly_one", "at_most_one"];

/// The main attributes of a tool.
const MAIN_ATTRIBUTES: &[&str] = &["description", "parameters", "input", "output"];

const REQUEST: &[&str] = &["method", "url", "query", "headers", "body", "form", "text", "auth"];

pub(super) const TOP: Keys = Keys {
    what: "a manifest",
    groups: &[&[
        "toolgen",
        "title",
        "description",
        "namespace",
        "lock",
        "defaults",
        "schemas",
        "tools",
        "endpoints",
        "imports",
        "toolsets",
        "lints",
        "deny_losses",
        "token_budget",
        "contexts",
        "rules",
    ]],
};
pub(super) const DEFAULTS: Keys = Keys { what: "`defaults`", groups: &[SHARED_ATTRIBUTES, CHECK_ATTRIBUTES] };
pub(super) const TOOL: Keys = Keys {
    what: "a tool",
    groups: &[MAIN_ATTRIBUTES, KINDS, TOOL_ATTRIBUTES, SHARED_ATTRIBUTES, CHECK_ATTRIBUTES],
};
pub(super) const ENDPOINT: Keys = Keys {
    what: "an endpoint",
    groups: &[&["name"], REQUEST, MAIN_ATTRIBUTES, TOOL_ATTRIBUTES, SHARED_ATTRIBUTES, CHECK_ATTRIBUTES],
};
pub(super) const EXAMPLE: Keys = Keys { what: "an example", groups: &[&["summary", "arguments"]] };
pub(super) const REQUIREMENT: Keys = Keys {
    what: "a requirement",
    groups: &[
        &["context", "session", "entity", "tool", "service", "custom"],
        &["argument", "message", "optional"],
    ],
};
pub(super) const CONDITION: Keys =
    Keys { what: "a condition", groups: &[&["given", "equal", "not", "all", "any"]] };
pub(super) const COMMAND: Keys = Keys {
    what: "a command",
    groups: &[&[
        "argv",
        "shell",
        "script",
        "args",
        "stdin",
        "env",
        "inherit",
        "cwd",
        "output",
        "exit_codes",
        "stream",
        "max_output",
        "limits",
        "programs",
    ]],
};
pub(super) const CONDITIONAL_ARGUMENTS: Keys =
    Keys { what: "a group of arguments", groups: &[&["if", "args"]] };
pub(super) const ARGUMENT: Keys = Keys { what: "an argument", groups: &[&["arg", "allow_dash", "code"]] };
pub(super) const VARIABLE: Keys = Keys { what: "a variable", groups: &[&["arg", "code"]] };
pub(super) const STDIN: Keys = Keys { what: "`stdin`", groups: &[&["text"]] };
pub(super) const EXIT_CODE: Keys = Keys { what: "an exit code", groups: &[&["success", "message"]] };
pub(super) const LIMITS: Keys = Keys { what: "`limits`", groups: &[&["cpus", "memory", "pids"]] };
pub(super) const HTTP: Keys = Keys { what: "a request", groups: &[REQUEST] };
pub(super) const AUTH: Keys =
    Keys { what: "`auth`", groups: &[&["bearer", "basic", "header", "query", "env"]] };
pub(super) const FUNCTION: Keys = Keys { what: "a function", groups: &[] };
pub(super) const COMPLETE: Keys = Keys { what: "`complete`", groups: &[&["next_state", "message", "data"]] };
/// `complete` next to another kind.
pub(super) const COMPLETION: Keys =
    Keys { what: "`complete` next to another kind", groups: &[&["next_state"]] };
pub(super) const COMPOSE: Keys = Keys { what: "a composed tool", groups: &[&["steps", "result"]] };
pub(super) const STEP: Keys = Keys {
    what: "a step",
    groups: &[&["id", "call", "with", "if", "for_each", "parallel", "max_items", "on_error"]],
};
/// The keys of every import that is compiled.
const IMPORT: &[&str] =
    &["namespace", "include", "exclude", "rename", "deprecated", "projection", "overrides"];
pub(super) const IMPORT_OPENAPI: Keys = Keys {
    what: "an import of an OpenAPI document",
    groups: &[&["openapi"], IMPORT, &["credentials", "fix", "omit", "overlay"]],
};
pub(super) const IMPORT_MANIFEST: Keys =
    Keys { what: "an import of a manifest", groups: &[&["manifest"], IMPORT] };
pub(super) const IMPORT_MCP: Keys = Keys {
    what: "an import of an MCP server",
    groups: &[&["mcp", "include", "exclude", "rename", "projection", "overrides"]],
};
pub(super) const MCP: Keys = Keys {
    what: "an MCP server",
    groups: &[
        &["alias", "lock", "server", "env", "inherit", "cwd", "url", "headers", "bearer"],
        &["concurrency", "idle", "total"],
    ],
};
pub(super) const OVERRIDE: Keys =
    Keys { what: "an override", groups: &[&["description"], TOOL_ATTRIBUTES, SHARED_ATTRIBUTES] };
pub(super) const LINTS: Keys = Keys { what: "`lints`", groups: &[&["allow", "warn", "deny"]] };
pub(super) const TOKEN_BUDGET: Keys =
    Keys { what: "`token_budget`", groups: &[&["total", "tool", "dialect"]] };
pub(super) const TOOLSET: Keys =
    Keys { what: "a toolset", groups: &[&["description", "context", "include", "tools"]] };
pub(super) const MEMBER: Keys = Keys { what: "a member of a toolset", groups: &[&["agent"]] };
pub(super) const CONTEXT: Keys = Keys {
    what: "a context",
    groups: &[&["read_only", "destructive", "network", "files", "spawns", "workdir", "scopes", "timeout"]],
};
pub(super) const RULE: Keys =
    Keys { what: "a rule", groups: &[&["deny", "ask", "rate", "limit", "per", "when", "reason"]] };
pub(super) const EFFECT: Keys = Keys { what: "an effect", groups: &[&["name", "data"]] };
pub(super) const AGENT: Keys = Keys {
    what: "an agent",
    groups: &[&["system_prompt", "tools", "model", "thinking_level", "max_turns", "max_tokens", "max_time"]],
};
