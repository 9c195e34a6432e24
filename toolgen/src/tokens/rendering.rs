//! The forms in which a model reads tools.

use toolgen_core::ToolSpec;
use toolgen_core::spec::docs::{self, Level, Style};

/// A form in which a model reads tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// As in a request, with the levers of each tool.
    Full,
    /// As in a request, with the levers of [`Slim::COMPACT`](toolgen_core::schema::shape::Slim::COMPACT).
    Compact,
    /// The list in a system prompt, one line per tool: its name and the names of its arguments.
    Index,
    /// The list in a system prompt, one line per tool: its name and its first sentence.
    Summary,
    /// The types in a system prompt, each tool with the types that it names.
    Signature,
    /// The documentation in a system prompt.
    Docs,
}

impl Rendering {
    /// All renderings.
    pub const ALL: [Rendering; 6] = [
        Rendering::Full,
        Rendering::Compact,
        Rendering::Index,
        Rendering::Summary,
        Rendering::Signature,
        Rendering::Docs,
    ];

    /// Returns the name: `full`, `compact`, `index`, `summary`, `signature` or `docs`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rendering::Full => "full",
            Rendering::Compact => "compact",
            Rendering::Index => "index",
            Rendering::Summary => "summary",
            Rendering::Signature => "signature",
            Rendering::Docs => "docs",
        }
    }

    /// Returns the rendering with a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Rendering> {
        Rendering::ALL.into_iter().find(|rendering| rendering.name() == name)
    }

    /// Returns the description of a tool in a system prompt; `None` for the forms of requests.
    pub(super) fn prompt_text(self, spec: &ToolSpec) -> Option<String> {
        match self {
            Rendering::Full | Rendering::Compact => None,
            Rendering::Index => Some(docs::docs_at([spec], &Style::new(Level::Index))),
            Rendering::Summary => Some(docs::summary([spec]).lines().skip(2).collect()),
            Rendering::Signature => Some(signature(spec)),
            Rendering::Docs => Some(docs::detail(spec)),
        }
    }
}

/// Returns the types of a tool without the enclosing block and interface, which all tools share.
fn signature(spec: &ToolSpec) -> String {
    let text = docs::docs_at([spec], &Style::new(Level::Signature));
    let frame = ["```ts", "interface Tools {", "}", "```"];
    text.split_inclusive('\n').filter(|line| !frame.contains(&line.trim_end())).collect()
}
