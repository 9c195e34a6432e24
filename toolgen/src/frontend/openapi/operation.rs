//! Compiles one operation to one tool.

use std::collections::BTreeSet;

use serde_json::Value;
use toolgen_core::spec::plan::{
    HeaderOwner, Location, NextPage, Pagination, RequestPlan, SecurityRequirement,
};
use toolgen_core::spec::{Effects, Example, Files};
use toolgen_core::{List, Text, ToolName, ToolSpec};

use super::arguments::{Arguments, arguments};
use super::codes;
use super::context::{Context, Omitted};
use super::names::operation_name;
use super::node::Node;
use super::parameter::Param;
use super::path::Template;
use super::server::{has_dot_segments, network};
use crate::frontend::effects_of_method;
use crate::selection::Entry;

/// An operation of the document.
#[derive(Clone, Debug)]
pub(super) struct Operation<'a> {
    /// The method, in upper case.
    pub(super) method: String,
    /// The key of `paths`.
    pub(super) path: &'a str,
    /// The operation object.
    pub(super) node: Node<'a>,
    /// The resolved path item that contains the operation.
    pub(super) path_item: Node<'a>,
    /// The `operationId`; empty if there is none.
    pub(super) id: &'a str,
    /// The tag that the operation is listed under.
    pub(super) category: &'a str,
    /// The operation's tags and their ancestors.
    pub(super) groups: Vec<&'a str>,
}

impl Operation<'_> {
    /// Returns the operation as an entry for selection by the options.
    pub(super) fn entry(&self) -> Entry<'_> {
        Entry {
            id: self.id,
            title: self.title(),
            fallback: operation_name(&self.method, self.path),
            groups: self.groups.clone(),
            deprecated: self.node.is_true("deprecated"),
        }
    }

    /// Returns the method and the path: `GET /pets`.
    fn title(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

impl<'a> Context<'a> {
    /// Compiles one operation, or reports that it is omitted: a tool that cannot send what the operation requires is
    /// worse than no tool.
    pub(super) fn compile_operation(
        &mut self,
        operation: &Operation<'a>,
        name: ToolName,
    ) -> Option<(ToolSpec, RequestPlan)> {
        let result = self.try_compile(operation, name);
        let cause = std::mem::take(&mut self.cause);
        if result.is_err() {
            let cause = if cause.is_empty() { cause } else { format!(": {cause}") };
            self.report(
                codes::OPERATION,
                &operation.node.pointer,
                format!("the operation has a parameter or a body that cannot be sent{cause}; it is left out"),
                "another problem of the operation has the location and the help",
            );
        }
        result.ok()
    }

    /// Compiles one operation to a tool whose named shapes are not attached yet.
    fn try_compile(
        &mut self,
        operation: &Operation<'a>,
        name: ToolName,
    ) -> Result<(ToolSpec, RequestPlan), Omitted> {
        let node = &operation.node;
        let mut template = Template::parse(operation.path);
        self.note_fragment(&template, node);
        self.check_path(&template, node)?;
        self.note_responses(node);
        self.broken = Some(0);
        let params = self.parameters(&operation.path_item, node, &mut template);
        let body = self.body(&operation.path_item, node, &operation.method);
        // The part that the dangling reference names may be required.
        if self.broken.take() > Some(0) {
            return Err(Omitted);
        }
        let body = body?;
        let (params, security) = self.split_credentials(params, node);
        let (params, idempotency_key) = split_idempotency_key(params);
        let files = if body.as_ref().is_some_and(|body| body.files) { Files::Read } else { Files::None };
        let results = self.results(node);
        let Arguments { input, parameters, body, example } = arguments(params, body);
        let servers = self.servers(node, &operation.path_item);
        let effects = Effects { network: network(&servers), files, ..effects_of_method(&operation.method) };
        let mut spec = ToolSpec {
            name,
            returns: Text::from(results.description),
            examples: example.iter().map(example_call).collect(),
            input: input.into(),
            output_may_differ: results.shape.is_some(),
            output: results.shape.map(Into::into),
            scopes: vec![Text::Static(if effects.read_only { "read" } else { "write" })].into(),
            effects,
            ..base_spec(operation)
        };
        let plan = RequestPlan {
            method: operation.method.clone().into(),
            path: template.path.into(),
            query: template.query.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
            servers,
            parameters: parameters.into(),
            body,
            security,
            idempotency_key,
            pagination: results.linked.then(|| Pagination::new(NextPage::Link)),
            accept: results.accept.into(),
            xml_response: results.xml_response,
            headers: self.shown_headers(node),
            redirects: self.redirects(node),
            ..RequestPlan::EMPTY
        };
        spec.string_arguments = plan.texts();
        Ok((spec, plan))
    }

    /// Reports the fragment of a path. In some documents it distinguishes operations on one path.
    fn note_fragment(&mut self, template: &Template, operation: &Node<'a>) {
        if !template.fragment.is_empty() {
            self.report(
                codes::FRAGMENT,
                &operation.pointer,
                format!("`#{}` of the path is not sent", template.fragment),
                "declare a parameter that distinguishes the operations; write a `#` of the path itself as `%23`",
            );
        }
    }

    /// Rejects a path with dot segments: clients resolve them, so the request would go to another path than the
    /// document shows. Reports a `*` after a placeholder, which only routers understand.
    fn check_path(&mut self, template: &Template, operation: &Node<'a>) -> Result<(), Omitted> {
        let path = &template.path;
        if has_dot_segments(path) {
            let reason = format!("`{path}` has a segment of dots, which clients resolve");
            self.set_cause(reason.clone());
            self.report(
                codes::PATH_PARAMETER,
                &operation.pointer,
                format!("{reason}; the operation is left out"),
                "write the intended path, without `.` and `..`",
            );
            return Err(Omitted);
        }
        if path.contains("}*") {
            self.report(
                codes::PATH_PARAMETER,
                &operation.pointer,
                format!("the `*` in `{path}` is sent literally"),
                "write it into the braces, `{name*}`, if the parameter covers several segments",
            );
        }
        Ok(())
    }

    /// Reports responses that are not an object and are therefore ignored.
    fn note_responses(&mut self, operation: &Node<'a>) {
        if let Some(node) = operation.get("responses").filter(|node| node.object().is_none()) {
            self.malformed(&node, "`responses` must be an object; it is left out");
        }
    }

    /// Removes parameters that carry the credential of a declared scheme, which a model must not set. If the operation
    /// declares no requirement, these parameters become its requirement.
    fn split_credentials(
        &mut self,
        params: Vec<Param>,
        operation: &Node<'a>,
    ) -> (Vec<Param>, List<SecurityRequirement>) {
        let declared = self.security(operation);
        let mut security = declared.unwrap_or_default();
        let is_named = |security: &[SecurityRequirement], id: &str| {
            security.iter().flat_map(|alternative| &alternative.schemes).any(|scheme| scheme.id == *id)
        };
        let is_undeclared = security.is_empty();
        let mut remaining = Vec::with_capacity(params.len());
        let mut scheme_ids = Vec::new();
        let mut is_required = false;
        for param in params {
            let id = self.schemes.scheme_for(&param, |id| is_undeclared || is_named(&security, id));
            match id.map(str::to_owned) {
                Some(id) => {
                    is_required |= param.required;
                    scheme_ids.push(id);
                }
                None if is_credential(&param) => self.report(
                    codes::SECURITY,
                    &operation.pointer,
                    format!(
                        "no security scheme of the operation sends `{}`; the parameter is left out",
                        param.name
                    ),
                    &format!(
                        "declare the scheme under `{}` and name it under `security`; as it is, only \
                         `HttpEngineBuilder::header` can send it",
                        self.components_key("securitySchemes")
                    ),
                ),
                None => remaining.push(param),
            }
        }
        if is_undeclared && !scheme_ids.is_empty() {
            let schemes: List<_> = scheme_ids.iter().filter_map(|id| self.scheme(id, List::EMPTY)).collect();
            security.push(SecurityRequirement { schemes });
            if !is_required {
                security.push(SecurityRequirement { schemes: List::EMPTY });
            }
        }
        (remaining, security.into())
    }
}

/// Removes the idempotency key header, which distinguishes a retry from a second call. The engine generates its
/// value: a model would invent a key, and a different key for each attempt.
fn split_idempotency_key(mut params: Vec<Param>) -> (Vec<Param>, Text) {
    let is_key = |param: &Param| {
        let name = param.name.to_ascii_lowercase();
        let name = name.strip_prefix("x-").unwrap_or(&name);
        param.location == Location::Header && (name == "idempotency-key" || name == "paypal-request-id")
    };
    let key = params.iter().position(is_key).map(|index| params.remove(index));
    (params, key.map(|param| param.name.into()).unwrap_or_default())
}

/// Whether the parameter is a header for credentials, which a model must not set.
fn is_credential(param: &Param) -> bool {
    param.location == Location::Header && HeaderOwner::of(&param.name) == Some(HeaderOwner::Security)
}

/// Returns a specification with the document's descriptions of the operation.
fn base_spec(operation: &Operation<'_>) -> ToolSpec {
    let summary = operation.node.prose("summary");
    let joined_prose =
        |node: &Node<'_>| join_descriptions(&node.prose("summary"), &node.prose("description"));
    let candidates = [joined_prose(&operation.node), joined_prose(&operation.path_item), operation.title()];
    let description = candidates.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    ToolSpec {
        label: summary.into_owned().into(),
        description: description.into(),
        category: operation.category.to_owned().into(),
        deprecated: operation.node.is_true("deprecated").then_some(Text::EMPTY),
        ..ToolSpec::EMPTY
    }
}

/// Joins a summary and a description, without repetition.
fn join_descriptions(summary: &str, description: &str) -> String {
    let description = without_heading(description);
    let words_of = |text: &str| -> Vec<String> {
        let words = text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (short, long) = (words_of(summary), words_of(description));
    let line = description.lines().next().unwrap_or_default();
    let first = line.split_once(". ").map_or(line, |(first, _)| first);
    let is_stated = !short.is_empty() && (long.starts_with(&short) || restates(first, summary));
    if summary.is_empty() || is_stated {
        description.to_owned()
    } else if description.is_empty() || short.starts_with(&long) {
        summary.to_owned()
    } else {
        format!("{summary}\n\n{description}")
    }
}

/// Returns a description without its first line if that is only a heading such as `Description:`.
fn without_heading(description: &str) -> &str {
    let Some((first, rest)) = description.split_once('\n') else { return description };
    let label = first.trim_matches(['#', '*', ':', ' ']).to_ascii_lowercase();
    let is_heading =
        first.starts_with(['#', '*']) && matches!(label.as_str(), "description" | "summary" | "overview");
    if is_heading { rest.trim_start() } else { description }
}

/// Whether a sentence contains every word of a summary, in any form and order, and few other words. A summary of a
/// single word is a title.
fn restates(sentence: &str, summary: &str) -> bool {
    const STOP_WORDS: [&str; 14] =
        ["a", "an", "the", "of", "for", "to", "in", "on", "by", "with", "all", "given", "specified", "new"];
    let stems = |text: &str| -> BTreeSet<String> {
        let words = text.split(|char: char| !char.is_alphanumeric()).map(str::to_lowercase);
        let significant = words.filter(|word| !word.is_empty() && !STOP_WORDS.contains(&word.as_str()));
        significant.map(|word| word.trim_end_matches('s').trim_end_matches('e').to_owned()).collect()
    };
    let (short, long) = (stems(summary), stems(sentence));
    short.len() > 1 && short.is_subset(&long) && long.len() <= short.len() + 2
}

/// Returns an example call for the model.
fn example_call(arguments: &Value) -> Example {
    Example { summary: Text::EMPTY, arguments: arguments.to_string().into() }
}

#[cfg(test)]
mod tests {
    use super::join_descriptions;

    #[test]
    fn summary_repeated_in_the_description_is_dropped() {
        for (summary, description, text) in [
            ("Get a pet", "Get a pet by its ID.", "Get a pet by its ID."),
            (
                "Update the status of a link",
                "Updates the status of a link. It is paid.",
                "Updates the status of a link. It is paid.",
            ),
            (
                "List pets",
                "Lists all the pets of a store.\n\nNewest first.",
                "Lists all the pets of a store.\n\nNewest first.",
            ),
            (
                "Cancel upload",
                "### Description:\nCancel upload.\n\n### Needs:\nA token.",
                "Cancel upload.\n\n### Needs:\nA token.",
            ),
            (
                "Get a pet",
                "Pets are animals. Get a pet by it.",
                "Get a pet\n\nPets are animals. Get a pet by it.",
            ),
            (
                "List pets",
                "Lists the pets that were sold, those that wait, and what came of either.",
                "List pets\n\nLists the pets that were sold, those that wait, and what came of either.",
            ),
            ("Get a pet by its ID", "Get a pet", "Get a pet by its ID"),
            ("Get a pet", "", "Get a pet"),
            ("Pets", "All about pets.", "Pets\n\nAll about pets."),
        ] {
            assert_eq!(join_descriptions(summary, description), text);
        }
    }
}
