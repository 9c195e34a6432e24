//! Checks that the parts of a tool are consistent: descriptions, names, rules between arguments, examples.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::ext::IdentExt;

use crate::errors::Errors;
use crate::expand::Tool;
use crate::json;
use crate::names;
use crate::requires::Requirement;
use crate::tool_attr::Relation;

impl Tool {
    /// Checks that the parts of the tool are consistent.
    pub(crate) fn check(&self, errors: &mut Errors) {
        if !self.attr.undocumented {
            self.check_documented(errors);
        }
        let mut seen: Vec<String> = Vec::new();
        for argument in self.arguments() {
            let aliases = argument.attr.aliases.iter().map(syn::LitStr::value);
            for name in [argument.name.clone()].into_iter().chain(aliases) {
                if seen.contains(&name) {
                    errors.at(
                        &argument.ident,
                        format!("two arguments of the tool `{}` are called `{name}`", self.name),
                    );
                }
                seen.push(name);
            }
        }
        for relation in &self.attr.relations {
            for ident in &relation.arguments {
                self.check_relation_argument(relation, ident, errors);
            }
        }
        for requirement in self.attr.requires.iter().filter(|requirement| requirement.kind == "entity") {
            self.check_entity(requirement, errors);
        }
        for resource in &self.attr.resources {
            self.check_resource(resource, errors);
        }
        self.check_examples(errors);
        self.check_text_input(errors);
    }

    /// Checks that every name in braces in a resource is an argument: `file:{path}`.
    fn check_resource(&self, resource: &syn::LitStr, errors: &mut Errors) {
        let names: Vec<String> = self.arguments().map(|argument| argument.name.clone()).collect();
        let text = resource.value();
        for part in text.split('{').skip(1) {
            match part.split_once('}') {
                Some((argument_name, _)) if names.iter().any(|name| name == argument_name) => {}
                Some((argument_name, _)) => self.unknown_argument(resource, argument_name, &names, errors),
                None => errors.at(resource, "an unclosed `{`; write an argument as `{name}`"),
            }
        }
    }

    /// Checks that an entity is identified by an argument, under a name the model may use.
    fn check_entity(&self, requirement: &Requirement, errors: &mut Errors) {
        let Requirement { name, argument, .. } = requirement;
        let Some(argument) = argument else {
            let entity = name.value();
            errors.at(name, format!("`entity(\"{entity}\")` needs the argument that identifies it: `entity(\"{entity}\", argument = \"…\")`"));
            return;
        };
        let argument_name = argument.value();
        let mut aliases =
            self.arguments().flat_map(|argument| argument.attr.aliases.iter().map(syn::LitStr::value));
        let names: Vec<String> = self.arguments().map(|argument| argument.name.clone()).collect();
        if !names.contains(&argument_name) && !aliases.any(|alias| alias == argument_name) {
            self.unknown_argument(argument, &argument_name, &names, errors);
        }
    }

    fn check_documented(&self, errors: &mut Errors) {
        if self.docs.description.is_none() && self.attr.description.is_none() {
            errors.at(
                &self.ident,
                format!(
                    "the tool `{}` has no description, which a model needs to choose it: write a doc comment (`/// …`), or turn this off with `#[tool(undocumented)]`",
                    self.name
                ),
            );
        }
        for argument in self.arguments().filter(|argument| argument.description.is_none()) {
            let service = match &argument.shared {
                Some(ty) => format!("; if your program provides it, write `Service<{ty}>`"),
                None => String::new(),
            };
            errors.at(
                &argument.ident,
                format!(
                    "the argument `{}` of the tool `{}` has no description: write a doc comment (`/// …`) before it or a section `# Arguments`, or turn this off with `#[tool(undocumented)]`{service}",
                    argument.name, self.name
                ),
            );
        }
    }

    fn check_relation_argument(&self, relation: &Relation, ident: &Ident, errors: &mut Errors) {
        let names: Vec<String> =
            self.arguments().map(|argument| argument.ident.unraw().to_string()).collect();
        if !names.contains(&ident.unraw().to_string()) {
            self.unknown_argument(ident, &ident.to_string(), &names, errors);
        } else if relation.arguments.iter().filter(|other| *other == ident).count() > 1 {
            errors.at(ident, format!("`{ident}` is named twice in one rule"));
        }
    }

    fn unknown_argument(&self, tokens: impl ToTokens, name: &str, known: &[String], errors: &mut Errors) {
        let known = known.iter().map(String::as_str);
        let hint = match names::nearest(name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("its arguments are {}", names::quoted_list(known)),
        };
        errors.at(tokens, format!("the tool `{}` has no argument `{name}`; {hint}", self.name));
    }

    fn check_text_input(&self, errors: &mut Errors) {
        let is_text = || {
            let mut arguments = self.arguments();
            arguments.next().is_some_and(|argument| argument.name == "input") && arguments.next().is_none()
        };
        if let Some(span) = self.attr.text_input.filter(|_| !is_text()) {
            let message = "a tool whose arguments are text has one argument, `input: String`";
            errors.push(syn::Error::new(span, message));
        }
    }

    fn check_examples(&self, errors: &mut Errors) {
        for example in &self.docs.examples {
            let span = example.span.or(self.docs.span).unwrap_or_else(Span::call_site);
            match json::object_keys(&example.arguments) {
                Err(error) => {
                    errors.push(syn::Error::new(span, format!("an example is not a JSON object: {error}")));
                }
                Ok(keys) => {
                    for key in
                        keys.iter().filter(|key| !self.arguments().any(|argument| argument.name == **key))
                    {
                        let known = self.arguments().map(|argument| argument.name.as_str());
                        errors.push(syn::Error::new(
                            span,
                            format!("an example gives `{key}`, but the tool has no such argument; its arguments are {}", names::quoted_list(known)),
                        ));
                    }
                }
            }
        }
    }
}
