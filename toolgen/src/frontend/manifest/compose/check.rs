//! Checks the arguments of a step against the tool that it calls.

use serde_json::Value;
use toolgen_core::schema::dialect::JSON_SCHEMA;
use toolgen_core::schema::shape::decode::decode;
use toolgen_core::schema::shape::{Extra, Field, Kind, ObjectRules};
use toolgen_core::spec::template::{Reference, Root, Template};
use toolgen_core::{Shape, ToolSpec};

use super::suggest_tool;
use crate::frontend::manifest::codes;
use crate::frontend::manifest::context::{Context, suggest_name};
use crate::frontend::manifest::template::Scope;
use crate::frontend::manifest::typed_value::{Class, Lookup, TypedValue};
use crate::source::Pointer;

/// A call that is checked: the called tool, and the values of placeholders.
struct Call<'s> {
    tool: &'s str,
    scope: &'s Scope,
}

impl Context<'_> {
    /// Reports unknown arguments, missing arguments and arguments of another type.
    pub(super) fn check_arguments(
        &mut self,
        template: &Template,
        callee: &ToolSpec,
        scope: &Scope,
        pointer: &Pointer,
    ) {
        let call = Call { tool: callee.name.as_str(), scope };
        self.check_object(template, &TypedValue::arguments(callee), &call, "", pointer);
    }

    /// Checks the members of the object at `path` in the arguments.
    fn check_object(
        &mut self,
        template: &Template,
        argument_type: &TypedValue,
        call: &Call<'_>,
        path: &str,
        pointer: &Pointer,
    ) {
        let Some(Shape { kind: Kind::Object(rules), .. }) = argument_type.shape() else { return };
        let members: Vec<(String, Template)> = match template {
            Template::Object(members) => {
                members.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
            }
            Template::Constant(json) => match serde_json::from_str(json) {
                Ok(Value::Object(members)) => members
                    .into_iter()
                    .map(|(name, value)| (name, Template::Constant(value.to_string().into())))
                    .collect(),
                _ => return,
            },
            _ => return,
        };
        let owner =
            if path.is_empty() { format!("`{}`", call.tool) } else { format!("`{path}` of `{}`", call.tool) };
        for field in rules.fields.iter().filter(|field| field.required && field.shape.default.is_none()) {
            let value = members.iter().find(|(name, _)| *field.name == **name);
            let (pointer, reason) = match value {
                None => (pointer.clone(), "is required, but the step does not set it"),
                Some((name, Template::Value(reference))) if reference.optional => {
                    (pointer.child(name), "is required, but an optional placeholder may omit it")
                }
                Some(_) => continue,
            };
            let message = format!("`{}` of {owner} {reason}", field.name);
            let help = format!("write `{}: …` under `with`", field.name);
            self.report(codes::STEP_ARGUMENT, &pointer, message, help);
        }
        for (name, value) in &members {
            let pointer = pointer.child(name);
            let Some(field) = rules.fields.iter().find(|field| *field.name == **name) else {
                if is_unknown(rules) {
                    let names: Vec<&str> = rules.fields.iter().map(|field| field.name.as_str()).collect();
                    let message = format!("{owner} has no argument `{name}`");
                    self.report(codes::STEP_ARGUMENT, &pointer, message, suggest_tool(name, &names, &[]));
                }
                continue;
            };
            let Lookup::Found(member) = argument_type.member(&field.name) else { continue };
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.check_value(value, field, &member, call, &path, &pointer);
        }
    }

    fn check_value(
        &mut self,
        template: &Template,
        field: &Field,
        argument_type: &TypedValue,
        call: &Call<'_>,
        path: &str,
        pointer: &Pointer,
    ) {
        if let Template::Constant(json) = template {
            // An object is checked member by member, so that the problem has an exact location.
            return match argument_type.class() {
                Class::Object if json.starts_with('{') => {
                    self.check_object(template, argument_type, call, path, pointer);
                }
                _ => self.check_constant(json, field, argument_type, call, path, pointer),
            };
        }
        let expected = argument_type.class();
        let class = match template {
            Template::Value(reference) => {
                call.scope.resolve(reference).map_or(Class::Mixed, |value| value.class())
            }
            Template::Text(_) => Class::Text,
            Template::List(_) => Class::List,
            Template::Object(_) | Template::With(..) => Class::Object,
            Template::Constant(_) => Class::Mixed,
        };
        if class != expected && class != Class::Mixed && expected != Class::Mixed {
            let actual = match template {
                Template::Value(reference) => format!("`{{{reference}}}` is {}", class.name()),
                _ => format!("this is {}", class.name()),
            };
            let message = format!("`{path}` of `{}` is {}, and {actual}", call.tool, expected.name());
            let help = match (expected, class) {
                (Class::Text, Class::Number | Class::Boolean) => {
                    "to convert it to a string, write more than the placeholder"
                }
                _ => "pass a value of that type",
            };
            return self.report(codes::STEP_ARGUMENT, pointer, message, help);
        }
        match template {
            Template::Object(_) => self.check_object(template, argument_type, call, path, pointer),
            Template::List(items) => {
                let Some(item_type) = argument_type.item() else { return };
                let field = Field { shape: item_type.schema.shape().clone(), ..field.clone() };
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{path}.{index}");
                    self.check_value(item, &field, &item_type, call, &path, &pointer.item(index));
                }
            }
            Template::Value(reference) => {
                if let Some(value) = call.scope.resolve(reference) {
                    self.check_parts(&value, argument_type, (call.tool, path, reference), pointer);
                }
            }
            _ => {}
        }
    }

    /// Checks a constant value against all rules of its schema.
    fn check_constant(
        &mut self,
        json: &str,
        field: &Field,
        argument_type: &TypedValue,
        call: &Call<'_>,
        path: &str,
        pointer: &Pointer,
    ) {
        let Ok(value) = serde_json::from_str::<Value>(json) else { return };
        let field = Field { required: true, ..field.clone() };
        let arguments = Value::Object([(field.name.to_string(), value)].into_iter().collect());
        let rules = ObjectRules { fields: vec![field].into(), ..ObjectRules::ANY };
        let problems =
            decode(&arguments, &Shape::of(Kind::Object(rules)), &argument_type.defs, &JSON_SCHEMA).err();
        for problem in problems.into_iter().flatten() {
            let message =
                format!("`{path}` of `{}` does not accept this value: {}", call.tool, problem.message);
            self.report(codes::STEP_ARGUMENT, pointer, message, "pass a value that matches its schema");
        }
    }
}

impl Scope {
    /// Returns the message and the help for a reference to a missing step or item.
    pub(in crate::frontend::manifest) fn missing_root(&self, path: &[String]) -> Option<(String, String)> {
        let steps = self.steps.as_ref()?;
        match path {
            [root] if root == "item" => {
                let message = "`{item}` is the item of an array, but this step has no `for_each`";
                Some((message.to_owned(), "add `for_each` with the array".to_owned()))
            }
            [root, id, ..] if root == "steps" => {
                let message = format!("there is no earlier step `{id}`");
                let step_ids: Vec<&str> = steps.iter().map(|(id, _)| id.as_str()).collect();
                let help = match self.later.first() {
                    Some(current) if current == id => "a step has no result before it runs".to_owned(),
                    _ if self.later.contains(id) => {
                        format!("steps run in order: move this one after `{id}`")
                    }
                    _ => suggest_name(id, &step_ids),
                };
                Some((message, help))
            }
            _ => None,
        }
    }

    /// Returns the type of the value of a reference, if known.
    fn resolve(&self, reference: &Reference) -> Option<TypedValue> {
        let root = match &reference.root {
            Root::Argument(name) => match self.arguments.member(name) {
                Lookup::Found(value_type) => Some(value_type),
                _ => None,
            },
            Root::Step(name) => self.steps.iter().flatten().find(|(id, _)| **id == **name)?.1.clone(),
            Root::Item => self.item.clone()?,
        };
        reference.path.iter().try_fold(root?, |value_type, key| match value_type.member(key) {
            Lookup::Found(value_type) => Some(value_type),
            _ => None,
        })
    }
}

/// Whether an undeclared member is an error.
fn is_unknown(rules: &ObjectRules) -> bool {
    let has_declared_members = !rules.fields.is_empty() || rules.extra == Extra::Closed;
    has_declared_members && rules.patterns.is_empty() && !matches!(rules.extra, Extra::Of(_))
}
