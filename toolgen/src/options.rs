//! The options for compiling a document.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use toolgen_core::schema::shape::Slim;
use toolgen_core::spec::Projection;
use toolgen_core::spec::drift::ChangeClass;
use toolgen_core::spec::template::text_of;

use crate::emit::{Modules, TextType};
use crate::problem::{Level, Levels};
use crate::selector::Selector;
use crate::tool::TokenBudget;

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
    /// The prefix of every tool name, as `namespace__name`.
    pub namespace: Option<String>,
    /// Selects the operations that become tools; empty for all.
    pub include: Vec<Selector>,
    /// Selects operations that do not become tools, even if `include` selects them.
    pub exclude: Vec<Selector>,
    /// Whether deprecated operations also become tools.
    pub deprecated: bool,
    /// Tool names chosen by the user: maps the operation's id, `METHOD /path`, or the name it would get without a
    /// namespace to its new name. The namespace is still prefixed.
    pub renames: BTreeMap<String, String>,
    /// The environment variable that holds the credential of a security scheme, by the scheme's name.
    pub credentials: BTreeMap<String, String>,
    /// Arguments whose values the program sets, and arguments that are omitted. The last rule that matches an
    /// argument applies.
    pub arguments: Vec<ArgumentRule>,
    /// The pagination of operations whose document does not declare it or declares it incorrectly. The last entry
    /// that selects an operation applies. For the syntax, see [`Pagination`](toolgen_core::spec::plan::Pagination);
    /// `none` means no pagination.
    pub pagination: Vec<(Selector, String)>,
    /// Whether paginated tools have an argument that lets a model request several pages at once.
    pub max_items: bool,
    /// Whether argument and result structs are generated in addition to the tools.
    pub types: bool,
    /// The paths of additional macros that these structs and enums derive.
    pub derives: Vec<String>,
    /// The crates whose types, such as times, these structs and enums use instead of strings.
    pub text_types: Vec<TextType>,
    /// How the tools and these structs and enums are divided into modules.
    pub modules: Modules,
    /// The contract lock that the tools of all documents together are compared with.
    pub lock: Option<PathBuf>,
    /// The least severe class of changes since the lock that is an error.
    pub deny_changes: ChangeClass,
    /// The severity levels that `check` and builds apply to problems, by their codes.
    pub levels: Levels,
    /// What is trimmed from each tool before a model reads it. `None` uses the setting of the document and the
    /// default ceiling.
    pub slim: Option<Slim>,
    /// The tools whose results a model may narrow to some fields.
    pub projection: Projection,
    /// The token budget of the tools.
    pub token_budget: Option<TokenBudget>,
    /// The names of the dialects, such as `openai-strict`, that must express tools completely.
    pub deny_losses: Vec<String>,
    /// Selects operations. A dialect rejects their tools if it cannot express all of their rules.
    pub exact: Vec<Selector>,
    /// The directories whose files a document may refer to, in addition to its own directory.
    pub roots: Vec<PathBuf>,
    /// The overlay files that change the documents before they are compiled, in this order.
    pub overlays: Vec<PathBuf>,
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
            arguments: Vec::new(),
            pagination: Vec::new(),
            max_items: false,
            types: true,
            derives: Vec::new(),
            text_types: Vec::new(),
            modules: Modules::One,
            lock: None,
            deny_changes: ChangeClass::Breaking,
            levels: Levels::default(),
            slim: None,
            projection: Projection::Off,
            token_budget: None,
            deny_losses: Vec::new(),
            exact: Vec::new(),
            roots: Vec::new(),
            overlays: Vec::new(),
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

    /// Includes the operations that this selects; see [`Selector`] for its forms. Calls accumulate.
    #[must_use]
    pub fn include(mut self, selector: impl Into<Selector>) -> Self {
        self.include.push(selector.into());
        self
    }

    /// Excludes the operations that this selects; see [`Selector`] for its forms. Calls accumulate.
    #[must_use]
    pub fn exclude(mut self, selector: impl Into<Selector>) -> Self {
        self.exclude.push(selector.into());
        self
    }

    /// Sets whether deprecated operations become tools; they do by default.
    #[must_use]
    pub fn deprecated(mut self, keep: bool) -> Self {
        self.deprecated = keep;
        self
    }

    /// Names the tool of an operation, given by its id, as `METHOD /path`, or by the tool name it would get.
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

    /// Fixes the value of an argument: each request sends it, and no model sees the argument or can set it. Use it
    /// for the version of an API, an account, a part of a body that must not vary. The argument is named as the tool
    /// or the document names it, with `*` for any characters. A string is converted to what the argument's schema
    /// expects: `"10"` can be a number.
    ///
    /// This applies to tools that send requests. The value is part of the generated code, so pass a secret as a
    /// [`credential`](Self::credential) or as a header of an engine instead.
    ///
    /// ```
    /// let options = toolgen::Options::default().fix("api-version", "2026-01-01").omit("X-Amz-*");
    /// ```
    #[must_use]
    pub fn fix(self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.argument(ArgumentRule { operations: None, argument: argument.into(), value: Some(value.into()) })
    }

    /// Omits an optional argument from all tools that send requests: no model sees it, and no request sends it. For
    /// the syntax of the name, see [`fix`](Self::fix).
    #[must_use]
    pub fn omit(self, argument: impl Into<String>) -> Self {
        self.argument(ArgumentRule { operations: None, argument: argument.into(), value: None })
    }

    /// Fixes or omits an argument of some operations.
    ///
    /// ```
    /// use toolgen::{ArgumentRule, Options};
    ///
    /// let operations = Some("GET /pets/**".into());
    /// let rule = ArgumentRule { operations, argument: "limit".into(), value: Some(20.into()) };
    /// let options = Options::default().argument(rule);
    /// ```
    #[must_use]
    pub fn argument(mut self, rule: ArgumentRule) -> Self {
        self.arguments.push(rule);
        self
    }

    /// Declares the pagination of operations, overriding the recognised one:
    /// `.pagination("GET /pets", "cursor=after@/meta/after items=/results")`, or `none`.
    #[must_use]
    pub fn pagination(mut self, operations: impl Into<Selector>, pages: impl Into<String>) -> Self {
        self.pagination.push((operations.into(), pages.into()));
        self
    }

    /// Sets whether paginated tools have the argument `max_items`, which lets a model request several pages at once.
    /// By default they do not: the argument costs tokens in every such tool, and a model that reads one page and its
    /// cursor can decide whether it needs the next.
    #[must_use]
    pub fn max_items(mut self, enabled: bool) -> Self {
        self.max_items = enabled;
        self
    }

    /// Sets whether argument and result structs are generated; they are by default. The program then needs the feature
    /// `typed` of `toolgen-runtime`.
    #[must_use]
    pub fn types(mut self, generate: bool) -> Self {
        self.types = generate;
        self
    }

    /// Makes generated structs and enums also derive a macro, given by its path in the crate that includes them:
    /// `"::schemars::JsonSchema"`. Calls accumulate. `Serialize` and `Deserialize` need no call: all types
    /// implement them.
    #[must_use]
    pub fn derive(mut self, path: impl Into<String>) -> Self {
        self.derives.push(path.into());
        self
    }

    /// Makes generated structs and enums use the types of a crate instead of strings in its formats:
    /// `text_type(TextType::Jiff)` turns a `date-time` into a `jiff::Timestamp`. Calls accumulate; if two crates
    /// have a type for one format, the first is used. `toolgen-runtime` needs the feature of the same name.
    #[must_use]
    pub fn text_type(mut self, crate_types: TextType) -> Self {
        self.text_types.push(crate_types);
        self
    }

    /// Sets how the tools and the types of a document are divided into modules: [`Modules::ByTag`] puts those of each
    /// tag into a module of its own. The default is [`Modules::One`]. Neither names nor the list `TOOLS` change.
    #[must_use]
    pub fn modules(mut self, modules: Modules) -> Self {
        self.modules = modules;
        self
    }

    /// Compares the tools with a contract lock written by `cargo toolgen lock`. Build scripts, `cargo toolgen check`
    /// and loaders fail if a change is breaking or worse, and warn about every other change. A relative path has the
    /// same base directory as the paths of documents.
    #[must_use]
    pub fn lock(mut self, path: impl Into<PathBuf>) -> Self {
        self.lock = Some(path.into());
        self
    }

    /// Sets the least severe class of changes since the lock that is an error; the default is
    /// [`ChangeClass::Breaking`].
    #[must_use]
    pub fn deny_changes(mut self, class: ChangeClass) -> Self {
        self.deny_changes = class;
        self
    }

    /// Suppresses problems of a code, such as `N0702`, or all `warnings`. Errors cannot be suppressed, because each
    /// means that something was omitted.
    #[must_use]
    pub fn allow(mut self, code: &str) -> Self {
        self.levels.set(code, Level::Allow);
        self
    }

    /// Reports problems of a code as warnings.
    #[must_use]
    pub fn warn(mut self, code: &str) -> Self {
        self.levels.set(code, Level::Warn);
        self
    }

    /// Makes problems of a code, or all `warnings`, fail the build.
    #[must_use]
    pub fn deny(mut self, code: &str) -> Self {
        self.levels.set(code, Level::Deny);
        self
    }

    /// Sets what is trimmed from each tool before a model reads it. A [`Slim`] is also read from text:
    /// `"compact, depth=4".parse()?`.
    #[must_use]
    pub fn slim(mut self, slim: Slim) -> Self {
        self.slim = Some(slim);
        self
    }

    /// Sets which tools take a list of the fields that their results should have, see
    /// [`ToolSpec::with_projection`](toolgen_core::ToolSpec::with_projection). [`Projection::Off`] keeps the setting of
    /// the document.
    #[must_use]
    pub fn projection(mut self, projection: Projection) -> Self {
        self.projection = projection;
        self
    }

    /// Sets the token budget in a dialect, such as `openai`: for all tools together and for each tool. `None` means
    /// no limit. A build that exceeds the budget fails. Requires the feature `tokens`.
    #[must_use]
    pub fn token_budget(
        mut self,
        total: impl Into<Option<usize>>,
        tool: impl Into<Option<usize>>,
        dialect: impl Into<String>,
    ) -> Self {
        let (total, tool, dialect) = (total.into(), tool.into(), dialect.into());
        self.token_budget = Some(TokenBudget { total, tool, dialect });
        self
    }

    /// Denies losses in a dialect, such as `openai-strict`: a build fails if the schema and the descriptions in the
    /// dialect together no longer express everything in the schema of a tool. Calls accumulate.
    ///
    /// A rule that only moves from a keyword into a description is not a loss here; [`exact`](Options::exact) is
    /// stricter.
    #[must_use]
    pub fn deny_losses(mut self, dialect: impl Into<String>) -> Self {
        self.deny_losses.push(dialect.into());
        self
    }

    /// Makes the tools of the selected operations [`exact`](toolgen_core::ToolSpec::exact): a dialect that cannot
    /// express every rule of their schemas as keywords rejects them, and a request renders them in the lax dialect of
    /// the provider. Calls accumulate.
    #[must_use]
    pub fn exact(mut self, selector: impl Into<Selector>) -> Self {
        self.exact.push(selector.into());
        self
    }

    /// Lets documents refer to files in and below a directory, in addition to their own directory. A relative path
    /// has the same base directory as the paths of documents. References of a document that did not come from a file
    /// are relative to the first of these directories.
    #[must_use]
    pub fn root(mut self, dir: impl Into<PathBuf>) -> Self {
        self.roots.push(dir.into());
        self
    }

    /// Changes the documents by an overlay (of the OpenAPI Initiative, 1.0 or 1.1) before they are compiled. Several
    /// overlays apply in order. An overlay that `extends` a file changes only that document. A relative path has the
    /// same base directory as the paths of documents.
    #[must_use]
    pub fn overlay(mut self, path: impl Into<PathBuf>) -> Self {
        self.overlays.push(path.into());
        self
    }

    /// Returns the arguments that make `cargo toolgen` select and name the same tools, each after a space and quoted
    /// for a shell. Credentials are omitted: they change no tool.
    #[must_use]
    pub fn command_line(&self) -> String {
        let namespace = self.namespace.iter().map(|name| ("--namespace", name.clone()));
        let included = self.include.iter().map(|selector| ("--operation", selector.to_string()));
        let excluded = self.exclude.iter().map(|selector| ("--exclude", selector.to_string()));
        let renamed = self.renames.iter().map(|(from, to)| ("--rename", format!("{from}={to}")));
        let mut line = String::new();
        let exact = self.exact.iter().map(|selector| ("--exact", selector.to_string()));
        for (option, value) in included.chain(excluded).chain(namespace).chain(renamed).chain(exact) {
            line.push_str(&format!(" {option} {}", quoted(&value)));
        }
        if !self.deprecated {
            line.push_str(" --no-deprecated");
        }
        for (option, value) in self.arguments.iter().map(ArgumentRule::option) {
            line.push_str(&format!(" {option} {}", quoted(&value)));
        }
        for (operations, pages) in &self.pagination {
            line.push_str(&format!(" --pagination {}", quoted(&format!("{operations}={pages}"))));
        }
        if self.max_items {
            line.push_str(" --max-items");
        }
        for root in &self.roots {
            line.push_str(&format!(" --root {}", quoted(&root.display().to_string())));
        }
        for overlay in &self.overlays {
            line.push_str(&format!(" --overlay {}", quoted(&overlay.display().to_string())));
        }
        if let Some(slim) = &self.slim {
            line.push_str(&format!(" --slim {}", quoted(&slim.to_string())));
        }
        if self.projection != Projection::Off {
            line.push_str(&format!(" --projection {}", self.projection));
        }
        line
    }
}

/// Quotes a string for a shell, if necessary.
fn quoted(text: &str) -> String {
    let is_unquoted = |c: char| c.is_ascii_alphanumeric() || "_-./:=@+,".contains(c);
    if !text.is_empty() && text.chars().all(is_unquoted) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// A rule for arguments of tools that send requests, see [`Options::fix`](Options::fix).
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentRule {
    /// The operations; `None` for all.
    pub operations: Option<Selector>,
    /// The argument, by its name in the tool or in the document; `*` matches any characters.
    pub argument: String,
    /// The value in each request; `None` if the argument is omitted.
    pub value: Option<Value>,
}

impl ArgumentRule {
    /// Returns the equivalent option of `cargo toolgen`, and its value.
    fn option(&self) -> (&'static str, String) {
        let scope = self.operations.iter().map(|operations| format!("{operations} ")).collect::<String>();
        match &self.value {
            None => ("--omit", format!("{scope}{}", self.argument)),
            Some(value) => ("--fix", format!("{scope}{}={}", self.argument, text_of(value))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_convert_to_command_line_arguments() {
        assert_eq!(Options::default().credential("key", "KEY").command_line(), "");
        let options = Options::default()
            .include("tag:Albums")
            .include("GET /pets/**")
            .exclude("it's")
            .namespace("a")
            .rename("x", "y")
            .deprecated(false);
        assert_eq!(
            options.command_line(),
            " --operation tag:Albums --operation 'GET /pets/**' --exclude 'it'\\''s' --namespace a --rename x=y \
             --no-deprecated"
        );
    }
}
