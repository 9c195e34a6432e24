//! Redaction: keeps secrets out of everything that is recorded about a call.
//!
//! A value is secret because the tool declares it (`#[arg(secret)]`, the format `password`, write-only fields),
//! because of its key (`api_key`, `Authorization`, …), or because of its form (`sk-…`, `ghp_…`, a JSON Web Token, a
//! private key, a URL with a password). The secrets in the arguments of a call, and in the answers to its questions,
//! are also hidden wherever else they appear in records, events, spans, updates and progress messages: in error
//! messages, in nested calls of its tool, including those of sub-agents, and in pages of its result that are read
//! later.
//!
//! People who approve a call must see the arguments that run. Only declared secrets, strings under secret keys and
//! complete tokens of known forms are hidden from them, and the length of each is shown. A call that cannot be shown in
//! full is refused.
//!
//! The tool receives the secrets, and the model sees the result as the tool returns it. When in doubt, the redactor
//! hides too much. It never fails open: if a rule of the program panics, the string is dropped.

mod approver;
mod bytes;
mod declared_secrets;
mod rules;
mod scan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::secret_names::Keys;
use crate::call::context::ToolContext;
use crate::call::control::Control;
use crate::call::error::ToolError;
use crate::call::result::{Content, ToolResult};
use crate::schema::shape::decode::ArgumentProblem;
use crate::schema::shape::read::read_document;
use crate::spec::ToolSpec;
use bytes::restore_bytes;
#[doc(hidden)]
pub use bytes::without_binary;
use declared_secrets::DeclaredSecrets;
use rules::{RedactionRules, hide_all};
use scan::Prefix;

pub use crate::call::secrets::{REDACTED, Secrets};

/// The string that replaces a value nested too deeply to be checked.
#[doc(hidden)]
pub const TOO_DEEP_MASK: &str = "[MAX_DEPTH_EXCEEDED]";
/// The string that replaces another string if a rule of the program failed to check it.
#[doc(hidden)]
pub const FAILED_MASK: &str = "[REDACTION_FAILED]";

/// Default maximum depth of nested values.
const MAX_DEPTH: usize = 32;

/// Hides secrets in values and strings. Clones share the rules.
///
/// ```
/// use serde_json::json;
/// use toolgen_runtime::layers::redact::Redactor;
///
/// let redactor = Redactor::new();
/// assert_eq!(redactor.text("GET https://u:pw@host/x?token=abc"), "GET https://[REDACTED]@host/x?token=[REDACTED]");
/// assert_eq!(redactor.value(json!({"apiKey": "x", "id": 1})), json!({"apiKey": "[REDACTED]", "id": 1}));
/// ```
#[derive(Clone)]
pub struct Redactor {
    rules: Arc<RedactionRules>,
    is_active: bool,
}

/// A builder for a [`Redactor`], starting from the default rules.
pub struct RedactorBuilder(RedactionRules);

impl RedactorBuilder {
    /// Hides values under this key as well: in any spelling, and also as consecutive words of a longer key.
    #[must_use]
    pub fn key(mut self, name: &str) -> RedactorBuilder {
        self.0.keys.add(name);
        self
    }

    /// Stops treating this key as the name of a secret.
    #[must_use]
    pub fn without_key(mut self, name: &str) -> RedactorBuilder {
        self.0.keys.remove(name);
        self
    }

    /// Hides only values under these keys, instead of those under the default ones.
    #[must_use]
    pub fn only_keys<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> RedactorBuilder {
        self.0.keys = Keys::default();
        names.into_iter().for_each(|name| self.0.keys.add(name));
        self
    }

    /// Hides tokens that start with this prefix, followed by at least `min_chars` letters, digits, `_` and `-`.
    #[must_use]
    pub fn token_prefix(mut self, prefix: impl Into<String>, min_chars: usize) -> RedactorBuilder {
        self.0.prefixes.push(Prefix { text: prefix.into(), min_chars, class: scan::is_word });
        self
    }

    /// Adds a rule. It takes the key of a string (empty if there is no key) and the string after all other rules, and
    /// returns the replacement, or `None` to leave the string unchanged. If the rule panics, the string becomes
    /// `FAILED_MASK`.
    #[must_use]
    pub fn rule(
        mut self,
        rule: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static,
    ) -> RedactorBuilder {
        self.0.rules.push(Box::new(rule));
        self
    }

    /// Sets the depth to which values are checked; deeper values are dropped. Default: 32, maximum: 100.
    #[must_use]
    pub fn max_depth(mut self, depth: usize) -> RedactorBuilder {
        self.0.max_depth = depth.min(100);
        self
    }

    /// Builds the redactor.
    #[must_use]
    pub fn build(self) -> Redactor {
        Redactor { rules: Arc::new(self.0), is_active: true }
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Redactor::new()
    }
}

impl Redactor {
    /// Creates a redactor with the default rules.
    #[must_use]
    pub fn new() -> Redactor {
        Redactor::builder().build()
    }

    /// Returns a builder that starts from the default rules.
    #[must_use]
    pub fn builder() -> RedactorBuilder {
        let prefixes = scan::default_prefixes();
        RedactorBuilder(RedactionRules {
            keys: Keys::usual(),
            prefixes,
            rules: Vec::new(),
            max_depth: MAX_DEPTH,
        })
    }

    /// Returns a redactor that hides nothing: everything is recorded unchanged. It must be chosen explicitly.
    #[must_use]
    pub fn none() -> Redactor {
        Redactor { is_active: false, ..Redactor::new() }
    }

    /// Returns the rules, or `None` for the redactor that hides nothing.
    fn active_rules(&self) -> Option<&RedactionRules> {
        self.is_active.then_some(&*self.rules)
    }

    /// Returns the redactor for calls of a tool, which also uses the secrets that the tool declares.
    #[must_use]
    pub fn for_tool(&self, spec: &ToolSpec) -> ToolRedactor {
        let (input, may_hold_secrets) =
            DeclaredSecrets::of_arguments(&spec.input, &spec.defs, &self.rules.keys);
        let output = spec.output.as_ref().and_then(|output| DeclaredSecrets::of_result(output, &spec.defs));
        let (input, output) = (input.map(Arc::new), output.map(Arc::new));
        ToolRedactor {
            redactor: self.clone(),
            input,
            output,
            may_hold_secrets,
            is_known: true,
            keeps_bytes: false,
        }
    }

    /// Returns the redactor for calls of unknown tools. It hides all arguments, because any of them may be secret.
    #[must_use]
    pub fn for_unknown(&self) -> ToolRedactor {
        let redactor = self.clone();
        ToolRedactor {
            redactor,
            input: None,
            output: None,
            may_hold_secrets: false,
            is_known: false,
            keeps_bytes: false,
        }
    }

    /// Returns a string without secrets.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.text_with(text, &Secrets::default())
    }

    /// Returns a string without secrets, including the given ones.
    #[must_use]
    pub fn text_with<'t>(&self, text: &'t str, secrets: &Secrets) -> Cow<'t, str> {
        match self.active_rules() {
            Some(rules) => rules.redact_text("", text, secrets, rules.max_depth),
            None => Cow::Borrowed(text),
        }
    }

    /// Returns the message of an error without secrets. Problems of arguments are redacted one by one: the colon
    /// between the pointer `/password` and the description does not assign a secret.
    pub(crate) fn error_with(&self, error: &ToolError, text: &str, secrets: &Secrets) -> String {
        let redact = |text: &str| self.text_with(text, secrets).into_owned();
        match error {
            ToolError::InvalidArgs { problems, .. }
                if *error == ToolError::from_problems(problems.clone()) =>
            {
                let problems = problems.iter().map(|problem| ArgumentProblem {
                    pointer: redact(&problem.pointer),
                    message: redact(&problem.message),
                    kind: problem.kind,
                });
                ToolError::from_problems(problems.collect()).to_string()
            }
            _ => redact(text),
        }
    }

    /// Returns the secrets in the answer to a tool's request for input: those that the schema of the request declares
    /// and those under secret keys, or everything if the schema is unknown.
    pub(crate) fn secrets_in_answer(&self, schema: Option<&Value>, answer: &Value) -> Secrets {
        let (mut secrets, rules) = (Secrets::default(), &self.rules);
        match schema {
            Some(schema) => {
                let mut answer = answer.clone();
                let (shape, defs) = read_document(schema, &mut Vec::new());
                if let Some(declared) = DeclaredSecrets::of_result(&shape.into(), &defs) {
                    declared.hide(&mut answer, &mut secrets, rules.max_depth);
                }
                rules.hide_keys(&mut answer, &mut secrets, rules.max_depth);
            }
            None => secrets.collect(answer, rules.max_depth),
        }
        secrets
    }

    /// Returns a value without secrets.
    #[must_use]
    pub fn value(&self, value: Value) -> Value {
        self.value_with(value, &Secrets::default())
    }

    /// Returns a value without secrets, including the given ones.
    #[must_use]
    pub fn value_with(&self, mut value: Value, secrets: &Secrets) -> Value {
        if let Some(rules) = self.active_rules() {
            rules.hide_keys(&mut value, &mut Secrets::default(), rules.max_depth);
            rules.redact_value("", &mut value, secrets, rules.max_depth);
        }
        value
    }
}

/// A [`Redactor`] that uses the secrets that a tool declares. Clones share these declarations.
#[derive(Clone, Debug)]
pub struct ToolRedactor {
    redactor: Redactor,
    input: Option<Arc<DeclaredSecrets>>,
    output: Option<Arc<DeclaredSecrets>>,
    /// Whether valid arguments may hold secrets that the schema declares or that have secret keys.
    may_hold_secrets: bool,
    is_known: bool,
    /// Whether binary content of results is kept.
    keeps_bytes: bool,
}

impl ToolRedactor {
    /// Returns the redacted arguments, and the secrets in them.
    ///
    /// A string of arguments is parsed. If it is not JSON, it may contain a secret anywhere, so only its length is
    /// shown.
    #[must_use]
    pub fn arguments(&self, arguments: Value) -> (Value, Secrets) {
        self.arguments_with(arguments, &Secrets::default())
    }

    /// Like [`arguments`](Self::arguments), but also redacts the `known` secrets, and returns them with the new ones.
    #[doc(hidden)]
    pub fn arguments_with(&self, mut arguments: Value, known: &Secrets) -> (Value, Secrets) {
        let mut secrets = known.clone();
        let Some(rules) = self.redactor.active_rules() else { return (arguments, secrets) };
        if let Value::String(text) = &arguments {
            arguments = match serde_json::from_str(text) {
                Ok(parsed) => parsed,
                Err(_) if text.trim().is_empty() => Value::Null,
                Err(_) => return (Value::from(format!("[UNPARSED: {} bytes]", text.len())), secrets),
            };
        }
        self.hide(&mut arguments, &mut secrets);
        if !self.is_known {
            hide_all(&mut arguments);
        }
        rules.redact_value("", &mut arguments, &secrets, rules.max_depth);
        (arguments, secrets)
    }

    /// Returns the redacted arguments of a call, and adds the secrets in them to those of the call.
    pub(crate) fn redact_arguments(&self, arguments: &Value, ctx: &ToolContext) -> Value {
        let known = ctx.secrets();
        let no_secrets = Secrets::default();
        let (visible, secrets) =
            self.arguments_with(arguments.clone(), known.as_deref().unwrap_or(&no_secrets));
        ctx.hide(&secrets);
        visible
    }

    /// Hides and collects the values that are secret by their declaration or their key.
    fn hide(&self, arguments: &mut Value, secrets: &mut Secrets) {
        let rules = &self.redactor.rules;
        if let Some(input) = &self.input {
            input.hide(arguments, secrets, rules.max_depth);
        }
        rules.hide_keys(arguments, secrets, rules.max_depth);
    }

    /// Adds the secrets in arguments to those of their call, so that no record of the call shows them.
    pub(crate) fn hide_secrets(&self, arguments: &Value, ctx: &ToolContext) {
        self.secrets_in(arguments).iter().for_each(|secrets| ctx.hide(secrets));
    }

    /// Returns the secrets in valid arguments. Costs nothing for tools whose arguments cannot hold any.
    fn secrets_in(&self, arguments: &Value) -> Option<Secrets> {
        if !self.may_hold_secrets {
            return None;
        }
        let mut arguments = match arguments {
            Value::String(text) => serde_json::from_str(text).ok()?,
            arguments => arguments.clone(),
        };
        let mut secrets = Secrets::default();
        self.hide(&mut arguments, &mut secrets);
        (!secrets.is_empty()).then_some(secrets)
    }

    /// Keeps images, audio and files in results, which are not searched for secrets.
    #[doc(hidden)]
    pub fn keeping_bytes(mut self, keep: bool) -> ToolRedactor {
        self.keeps_bytes = keep;
        self
    }

    /// Returns `{"content", "details"}` of a result, redacted and without the secrets of the arguments; with `control`
    /// if the result completes the agent loop. Binary content is replaced by its length.
    #[must_use]
    pub fn result(&self, result: &ToolResult, secrets: &Secrets) -> Value {
        let mut all_secrets = Secrets::default();
        let mut details = result.details.clone();
        if let Some(rules) = self.redactor.active_rules() {
            if let Some(output) = &self.output {
                output.hide(&mut details, &mut all_secrets, rules.max_depth);
            }
            rules.hide_keys(&mut details, &mut all_secrets, rules.max_depth);
        }
        // The content usually repeats the details.
        all_secrets.extend(secrets);
        // The binary content that is restored below is not searched.
        let stripped = without_binary(result);
        let content = stripped.content.iter().map(Content::to_json).collect();
        let mut out = Map::new();
        let mut content = self.redactor.value_with(content, &all_secrets);
        if self.keeps_bytes {
            restore_bytes(result, &mut content);
        }
        out.insert("content".to_owned(), content);
        out.insert("details".to_owned(), self.redactor.value_with(details, &all_secrets));
        if let Some(id) = &result.child_loop_id {
            out.insert("child_loop_id".to_owned(), Value::from(id.as_str()));
        }
        if let Control::Complete { .. } = &result.control {
            let control = serde_json::to_value(&result.control).unwrap_or_default();
            out.insert("control".to_owned(), self.redactor.value_with(control, &all_secrets));
        }
        Value::Object(out)
    }

    /// Returns the operator message of an error, redacted and without the secrets of the arguments.
    #[must_use]
    pub fn error(&self, reason: &ToolError, secrets: &Secrets) -> String {
        self.redactor.error_with(reason, &reason.operator_text(), secrets)
    }

    /// Returns the model message of an error, redacted and without the secrets of the arguments.
    pub(crate) fn message(&self, error: &ToolError, secrets: &Secrets) -> String {
        self.redactor.error_with(error, &error.to_string(), secrets)
    }

    /// Returns a string without secrets, including those of the arguments.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str, secrets: &Secrets) -> Cow<'t, str> {
        self.redactor.text_with(text, secrets)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.active_rules() {
            Some(rules) => write!(f, "Redactor({} rules of the program)", rules.rules.len()),
            None => f.write_str("Redactor::none()"),
        }
    }
}

impl fmt::Debug for RedactorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedactorBuilder({} rules of the program)", self.0.rules.len())
    }
}
