//! Reads the document as a whole: its version and its operations.

use toolgen_core::schema::shape::read::SchemaVersion;

use super::codes;
use super::context::Context;
use super::node::Node;
use super::operation::Operation;

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Returns the version that a document declares, as a string. It may be any value.
pub(super) fn declared_version(top: &Node<'_>) -> Option<String> {
    let node = top.get("openapi").or_else(|| top.get("swagger"))?;
    Some(node.value.as_str().map_or_else(|| node.value.to_string(), |text| text.trim().to_owned()))
}

/// Returns the rules for a declared version, and whether the version is known. `None` if it is neither Swagger 2.0 nor
/// OpenAPI 3.
pub(super) fn schema_version(top: &Node<'_>, version: &str) -> Option<(SchemaVersion, bool)> {
    let mut components = version.trim_start_matches(['v', 'V']).split('.');
    if top.get("openapi").is_none() {
        return (components.next() == Some("2")).then_some((SchemaVersion::Swagger2, true));
    }
    if components.next() != Some("3") {
        return None;
    }
    Some(match components.next() {
        Some("0") => (SchemaVersion::OpenApi30, true),
        // Additions of 3.2 are supported if they concern operations.
        Some("1" | "2") => (SchemaVersion::OpenApi31, true),
        _ => (SchemaVersion::OpenApi31, false),
    })
}

impl<'a> Context<'a> {
    /// Returns the operations in the order of the document, and the number of entries that are not operations.
    pub(super) fn operations(&mut self) -> (Vec<Operation<'a>>, usize) {
        let mut operations = Vec::new();
        let mut broken_count = 0;
        let top = self.top();
        let paths = top.get("paths").and_then(|node| Some(self.resolve(&node)?.node));
        let Some(paths) = paths.filter(|node| node.value.is_object()) else {
            self.report_missing_paths(&top);
            return (operations, broken_count);
        };
        for (path, node) in paths.entries() {
            let Some(resolved) = self.resolve(&node) else { continue };
            let path_item = resolved.node;
            if path_item.object().is_none() {
                self.malformed(&path_item, "a path must contain an object; it is left out");
                continue;
            }
            // A path item may have members next to its `$ref`. OpenAPI 3.0 does not define the meaning; both are used.
            if node.object().is_some_and(|object| object.len() > 1) && path_item.pointer != node.pointer {
                self.operations_of(path, &node, &node, &mut operations, &mut broken_count);
            }
            self.operations_of(path, &path_item, &path_item, &mut operations, &mut broken_count);
        }
        self.report_webhooks(&top);
        (operations, broken_count)
    }

    /// Appends the operations of a path item. `holder` is the path item, or the object next to its `$ref`.
    fn operations_of(
        &mut self,
        path: &'a str,
        holder: &Node<'a>,
        path_item: &Node<'a>,
        operations: &mut Vec<Operation<'a>>,
        broken_count: &mut usize,
    ) {
        let mut nodes: Vec<(&'a str, Node<'a>)> = holder.entries();
        nodes.retain(|(key, _)| METHODS.contains(&key.to_ascii_lowercase().as_str()));
        nodes.extend(holder.members("additionalOperations"));
        for (method, node) in nodes {
            let resolved = self.resolve(&node).map(|resolved| resolved.node);
            let Some(node) = resolved.filter(|node| node.object().is_some()) else {
                *broken_count += 1;
                self.report(
                    codes::OPERATION,
                    &node.pointer,
                    "an operation must be an object; it is left out",
                    "write the operation, or remove the method",
                );
                continue;
            };
            if let Some(callbacks) = node.get("callbacks").filter(|_| !self.callbacks_reported) {
                self.callbacks_reported = true;
                self.report(
                    codes::NOT_TOOLS,
                    &callbacks.pointer,
                    "callbacks are requests that the service sends; they are not tools (here and elsewhere)",
                    "no action is necessary",
                );
            }
            if node.get("description").is_some_and(|description| !description.value.is_string()) {
                self.malformed(&node, "`description` must be a string; it is left out");
            }
            let tags = node.items("tags");
            let tags: Vec<&str> =
                tags.iter().filter_map(|tag| tag.value.as_str()).filter(|tag| !tag.is_empty()).collect();
            operations.push(Operation {
                method: method.to_ascii_uppercase(),
                path,
                id: node.text("operationId").map(str::trim).unwrap_or_default(),
                category: self.category(&tags),
                groups: self.groups(&tags),
                node,
                path_item: path_item.clone(),
            });
        }
    }

    fn report_missing_paths(&mut self, top: &Node<'a>) {
        self.report_webhooks(top);
        let pointer = top.pointer.clone();
        self.report(
            codes::NO_PATHS,
            &pointer,
            "the document has no `paths`, so there is nothing to compile",
            "add operations under `paths`",
        );
    }

    /// Reports webhooks, which are not tools.
    fn report_webhooks(&mut self, top: &Node<'a>) {
        if let Some(webhooks) =
            top.get("webhooks").filter(|node| node.object().is_some_and(|object| !object.is_empty()))
        {
            self.report(
                codes::NOT_TOOLS,
                &webhooks.pointer,
                "webhooks are requests that the service sends; they are not tools",
                "no action is necessary",
            );
        }
    }

    pub(super) fn malformed(&mut self, node: &Node<'a>, message: &str) {
        self.report(
            codes::MALFORMED,
            &node.pointer,
            message,
            "correct the document; the rest of it is compiled",
        );
    }
}
