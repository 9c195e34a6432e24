//! What a user chooses about a document.

use std::collections::BTreeMap;

use crate::select::Selector;

/// How a document is compiled.
///
/// ```
/// use toolgen::Options;
///
/// let options = Options::default().namespace("petstore").credential("api_key", "PETSTORE_KEY");
/// assert!(options.types);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// Put before every tool name, as `namespace__name`.
    pub namespace: Option<String>,
    /// Only operations that one of these selects become tools. Empty: all.
    pub include: Vec<Selector>,
    /// Operations that one of these selects do not become tools, whatever `include` says.
    pub exclude: Vec<Selector>,
    /// Deprecated operations become tools too.
    pub deprecated: bool,
    /// Tool names chosen by the user: the operation's id, `METHOD /path`, or the name it would get without a
    /// namespace; and the name it gets instead. The namespace is put before it all the same.
    pub renames: BTreeMap<String, String>,
    /// The environment variable that holds the credential of a security scheme, by the scheme's name.
    pub credentials: BTreeMap<String, String>,
    /// Argument and result structs are generated beside the tools.
    pub types: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            namespace: None,
            include: Vec::new(),
            exclude: Vec::new(),
            deprecated: true,
            renames: BTreeMap::new(),
            credentials: BTreeMap::new(),
            types: true,
        }
    }
}

impl Options {
    /// Puts `namespace__` before every tool name.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Takes operations this selects; see [`Selector`] for what it may be. Several add up.
    #[must_use]
    pub fn include(mut self, selector: impl Into<Selector>) -> Self {
        self.include.push(selector.into());
        self
    }

    /// Leaves out operations this selects; see [`Selector`] for what it may be. Several add up.
    #[must_use]
    pub fn exclude(mut self, selector: impl Into<Selector>) -> Self {
        self.exclude.push(selector.into());
        self
    }

    /// Whether deprecated operations become tools. They do unless this says `false`.
    #[must_use]
    pub fn deprecated(mut self, keep: bool) -> Self {
        self.deprecated = keep;
        self
    }

    /// Names the tool of an operation, which is given by its id, as `METHOD /path`, or by the tool name it would get.
    #[must_use]
    pub fn rename(mut self, operation: impl Into<String>, name: impl Into<String>) -> Self {
        self.renames.insert(operation.into(), name.into());
        self
    }

    /// Names the environment variable that holds the credential of a security scheme.
    #[must_use]
    pub fn credential(mut self, scheme: impl Into<String>, variable: impl Into<String>) -> Self {
        self.credentials.insert(scheme.into(), variable.into());
        self
    }

    /// Whether argument and result structs are generated. They are unless this says `false`.
    #[must_use]
    pub fn types(mut self, generate: bool) -> Self {
        self.types = generate;
        self
    }
}
