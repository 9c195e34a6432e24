//! Matches the parameters of a path with its placeholders.

use std::collections::BTreeSet;

use toolgen_core::schema::shape::{Kind, Literal};
use toolgen_core::spec::plan::{Encoding, Location, Style};

use super::super::codes;
use super::super::context::Context;
use super::super::node::Node;
use super::super::path::Template;
use super::{Param, any_string};

impl<'a> Context<'a> {
    /// Renames the placeholders of the path to the names of its parameters, and reports those in another notation.
    fn rename_placeholders(&mut self, params: &mut [Param], operation: &Node<'a>, template: &mut Template) {
        let in_path = params.iter().filter(|param| param.location == Location::Path);
        let declared: Vec<(&str, bool)> =
            in_path.map(|param| (param.name.as_str(), has_prefix(&param.encoding))).collect();
        template.rename_placeholders(&declared);
        for (segment, placeholder) in template.rewrite_segments(&declared) {
            let message = format!("`{segment}` of the path is read as `{placeholder}`");
            let help = format!("write `{placeholder}`");
            self.report(codes::PATH_PARAMETER, &operation.pointer, message, &help);
        }
        for param in params.iter_mut().filter(|param| param.location == Location::Path) {
            if let (true, Encoding::Style { allow_reserved, .. }) =
                (template.is_wildcard(&param.name), &mut param.encoding)
            {
                *allow_reserved = true;
            }
        }
    }

    /// Resolves conflicts between a query in the path and a declared parameter of the same name: the value in the
    /// path identifies the operation, so the model has no choice.
    fn settle_query(&mut self, params: &mut Vec<Param>, operation: &Node<'a>, template: &mut Template) {
        let is_named = |key: &str, param: &Param| param.location == Location::Query && param.name == key;
        // `?acl` alone only declares that there is a value, and a required parameter provides it.
        template.query.retain(|(key, value)| {
            !value.is_empty() || !params.iter().any(|param| is_named(key, param) && param.required)
        });
        for (key, value) in &template.query {
            let Some(index) = params.iter().position(|param| is_named(key, param)) else { continue };
            let param = params.remove(index);
            let is_equivalent = match &param.shape.kind {
                Kind::Enum(values) => {
                    values.len() == 1 && values.first().is_some_and(|constant| is_text(constant, value))
                }
                _ => value.is_empty(),
            };
            if !is_equivalent {
                let message = format!("the path sets `{key}={value}`, so the parameter `{key}` is left out");
                let help = "remove the query from the path, or the parameter";
                self.report(codes::PATH_PARAMETER, &operation.pointer, message, help);
            }
        }
    }

    /// Restricts the path parameters to those in the path template.
    pub(super) fn match_template(
        &mut self,
        params: &mut Vec<Param>,
        operation: &Node<'a>,
        template: &mut Template,
    ) {
        self.rename_placeholders(params, operation, template);
        for param in params.iter_mut().filter(|param| param.location == Location::Path) {
            if let Some(key) = template.query_key(&param.name) {
                param.location = Location::Query;
                param.encoding = Encoding::FORM;
                param.name = key.to_owned();
            }
        }
        self.settle_query(params, operation, template);
        let mut unused = Vec::new();
        params.retain(|param| {
            let is_used = param.location != Location::Path || template.has(&param.name);
            if !is_used {
                unused.push(param.name.clone());
            }
            is_used
        });
        for name in unused {
            self.report(
                codes::PATH_PARAMETER,
                &operation.pointer,
                format!("the path has no placeholder for the parameter `{name}`; it is left out"),
                "put `{…}` into the path, or correct `in`",
            );
        }
        let in_path = params.iter().filter(|param| param.location == Location::Path);
        let mut declared: BTreeSet<String> = in_path.map(|param| param.name.clone()).collect();
        for name in template.names() {
            if !declared.insert(name.clone()) {
                continue;
            }
            self.report(
                codes::PATH_PARAMETER,
                &operation.pointer,
                format!("`{{{name}}}` of the path is not declared as a parameter; a string is assumed"),
                "declare it under `parameters` with `in: path`",
            );
            let allow_reserved = template.is_wildcard(&name);
            let encoding = Encoding::Style { style: Style::Simple, explode: false, allow_reserved };
            params.push(Param {
                name,
                location: Location::Path,
                required: true,
                encoding,
                shape: any_string(),
                is_querystring: false,
            });
        }
    }
}

/// Whether a style writes a prefix before a value in a path.
fn has_prefix(encoding: &Encoding) -> bool {
    matches!(encoding, Encoding::Style { style: Style::Label | Style::Matrix, .. })
}

/// Whether a value is encoded as this text.
fn is_text(value: &Literal, text: &str) -> bool {
    let value = value.to_json();
    match value {
        serde_json::Value::String(value) => value == text,
        value => format!("{value}") == text,
    }
}
