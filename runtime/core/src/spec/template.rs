//! Values that are made from the arguments of a call and from the results of other calls.
//!
//! A manifest writes them as JSON with placeholders: `{"to": "{email}", "subject": "Order {id}"}`. A text that is one
//! placeholder stands for the value itself; a placeholder within a text stands for the value's text.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use crate::base::frozen::{Frozen, List, Text};

/// A JSON value with placeholders.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    /// A constant, as JSON text.
    Constant(Text),
    /// The value that a reference finds.
    Value(Reference),
    /// Texts and references, joined to one text.
    Text(List<Segment>),
    /// A list. An item whose optional reference finds nothing is left out.
    List(List<Template>),
    /// An object. A member whose optional reference finds nothing is left out.
    Object(List<(Text, Template)>),
    /// The object that a reference finds, if it finds one, with these members as well: constants, as JSON text. The object
    /// itself has none of them, also none without a value.
    With(Reference, List<(Text, Option<Text>)>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// A text as it is.
    Literal(Text),
    /// The text of the value that a reference finds.
    Value(Reference),
}

/// Names a value that is known when a call runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Where the value is found.
    pub root: Root,
    /// The members of objects and indices of lists that lead from there to the value.
    pub path: List<Text>,
    /// Whether the value may be missing. What contains it is left out then; otherwise the call fails.
    pub optional: bool,
}

/// Where a [`Reference`] starts.
#[derive(Clone, Debug, PartialEq)]
pub enum Root {
    /// The argument of this name.
    Argument(Text),
    /// The result of the step of this name.
    Step(Text),
    /// The item of the list for which a step is repeated.
    Item,
}

/// A condition on values that are known when a call runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The value exists and is not `null`.
    Given(Reference),
    /// The value is `true`.
    True(Reference),
    /// Both values are equal; numbers by value. Two missing values are equal, too.
    Equal(Template, Template),
    /// The condition does not hold.
    Not(Frozen<Condition>),
    /// All conditions hold.
    All(List<Condition>),
    /// At least one condition holds.
    Any(List<Condition>),
}

/// The values that references find.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The arguments of the call.
    pub arguments: &'a Map<String, Value>,
    /// The results of the steps so far, by the names of the steps.
    pub steps: Option<&'a Map<String, Value>>,
    /// The item of the list for which a step is repeated.
    pub item: Option<&'a Value>,
}

/// A reference that had to find a value and did not.
#[derive(Clone, PartialEq)]
pub struct Unfilled(pub Reference);

impl<'a> Scope<'a> {
    /// Creates a scope of arguments alone.
    #[must_use]
    pub fn of(arguments: &'a Map<String, Value>) -> Scope<'a> {
        Scope { arguments, steps: None, item: None }
    }

    /// Returns the value that a reference names; `None` if there is none, or it is `null`.
    #[must_use]
    pub fn find(&self, reference: &Reference) -> Option<&'a Value> {
        let root = match &reference.root {
            Root::Argument(name) => self.arguments.get(name.as_str()),
            Root::Step(name) => self.steps.and_then(|steps| steps.get(name.as_str())),
            Root::Item => self.item,
        };
        let found = reference.path.iter().try_fold(root?, |value, key| match value {
            Value::Object(members) => members.get(key.as_str()),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })?;
        (!found.is_null()).then_some(found)
    }

    fn required(&self, reference: &Reference) -> Result<Option<&'a Value>, Unfilled> {
        match self.find(reference) {
            None if !reference.optional => Err(Unfilled(reference.clone())),
            found => Ok(found),
        }
    }
}

impl Template {
    /// Returns the value; `None` if it is one optional reference, or a text with one, that finds nothing.
    ///
    /// # Errors
    ///
    /// The first reference that finds nothing and is not optional.
    pub fn fill(&self, scope: &Scope<'_>) -> Result<Option<Value>, Unfilled> {
        match self {
            Template::Constant(json) => Ok(serde_json::from_str(json).ok()),
            Template::Value(reference) => Ok(scope.required(reference)?.cloned()),
            Template::Text(segments) => Ok(joined(segments, scope)?.map(Value::String)),
            Template::List(items) => {
                let filled: Result<Vec<_>, _> = items.iter().map(|item| item.fill(scope)).collect();
                Ok(Some(filled?.into_iter().flatten().collect()))
            }
            Template::Object(members) => {
                let mut object = Map::new();
                for (name, template) in members {
                    if let Some(value) = template.fill(scope)? {
                        object.insert(name.as_str().to_owned(), value);
                    }
                }
                Ok(Some(Value::Object(object)))
            }
            Template::With(reference, members) => {
                let constants = members.iter().filter_map(|(name, json)| {
                    Some((name.as_str().to_owned(), serde_json::from_str(json.as_ref()?).ok()?))
                });
                let object: Map<String, Value> = constants.collect();
                match scope.required(reference)? {
                    Some(Value::Object(found)) => {
                        let mut found = found.clone();
                        found.extend(object);
                        Ok(Some(Value::Object(found)))
                    }
                    None if object.is_empty() => Ok(None),
                    None => Ok(Some(Value::Object(object))),
                    Some(other) => Ok(Some(other.clone())),
                }
            }
        }
    }

    /// Returns the text of the value, see [`text_of`].
    ///
    /// # Errors
    ///
    /// See [`fill`](Self::fill).
    pub fn fill_text(&self, scope: &Scope<'_>) -> Result<Option<String>, Unfilled> {
        match self {
            Template::Value(reference) => {
                Ok(scope.required(reference)?.map(|value| text_of(value).into_owned()))
            }
            Template::Text(segments) => joined(segments, scope),
            _ => Ok(self.fill(scope)?.map(|value| text_of(&value).into_owned())),
        }
    }

    /// Calls a function with each reference in the template.
    pub fn references<'t>(&'t self, visit: &mut dyn FnMut(&'t Reference)) {
        match self {
            Template::Constant(_) => {}
            Template::Value(reference) | Template::With(reference, _) => visit(reference),
            Template::Text(segments) => segments.iter().for_each(|segment| {
                if let Segment::Value(reference) = segment {
                    visit(reference);
                }
            }),
            Template::List(items) => items.iter().for_each(|item| item.references(visit)),
            Template::Object(members) => members.iter().for_each(|(_, member)| member.references(visit)),
        }
    }
}

impl Condition {
    /// Whether the condition holds.
    ///
    /// # Errors
    ///
    /// The first reference of a comparison that finds nothing and is not optional.
    pub fn holds(&self, scope: &Scope<'_>) -> Result<bool, Unfilled> {
        match self {
            Condition::Given(reference) => Ok(scope.find(reference).is_some()),
            Condition::True(reference) => Ok(scope.find(reference) == Some(&Value::Bool(true))),
            Condition::Equal(left, right) => {
                Ok(equal(left.fill(scope)?.as_ref(), right.fill(scope)?.as_ref()))
            }
            Condition::Not(inner) => Ok(!inner.holds(scope)?),
            Condition::All(parts) => {
                for part in parts {
                    if !part.holds(scope)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(parts) => {
                for part in parts {
                    if part.holds(scope)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Calls a function with each reference in the condition.
    pub fn references<'c>(&'c self, visit: &mut dyn FnMut(&'c Reference)) {
        match self {
            Condition::Given(reference) | Condition::True(reference) => visit(reference),
            Condition::Equal(left, right) => {
                left.references(visit);
                right.references(visit);
            }
            Condition::Not(inner) => inner.references(visit),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|part| part.references(visit));
            }
        }
    }
}

fn joined(segments: &[Segment], scope: &Scope<'_>) -> Result<Option<String>, Unfilled> {
    let mut text = String::new();
    for segment in segments {
        match segment {
            Segment::Literal(literal) => text.push_str(literal),
            Segment::Value(reference) => match scope.required(reference)? {
                Some(value) => text.push_str(&text_of(value)),
                None => return Ok(None),
            },
        }
    }
    Ok(Some(text))
}

/// Returns a value as text: a text as it is, everything else as compact JSON.
#[must_use]
pub fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Whether two values are equal. As in JSON Schema, numbers compare by value: `1` equals `1.0`.
fn equal(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(Value::Number(left)), Some(Value::Number(right))) => {
            left == right || left.as_f64().is_some_and(|value| right.as_f64() == Some(value))
        }
        (left, right) => left == right,
    }
}

/// Writes the reference as in a manifest, without the braces: `path`, `steps.find.files.0`, `item.name`, each with
/// `?` if it is optional.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Argument(name) => f.write_str(name)?,
            Root::Step(name) => write!(f, "steps.{name}")?,
            Root::Item => f.write_str("item")?,
        }
        for key in &self.path {
            write!(f, ".{key}")?;
        }
        f.write_str(if self.optional { "?" } else { "" })
    }
}

impl fmt::Display for Unfilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no value for `{}`", self.0)
    }
}

__readable_debug!(Unfilled);

impl std::error::Error for Unfilled {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reference(name: &str, path: &[&str], optional: bool) -> Reference {
        let path: Vec<Text> = path.iter().map(|key| Text::from((*key).to_owned())).collect();
        Reference { root: Root::Argument(name.to_owned().into()), path: path.into(), optional }
    }

    fn filled(template: &Template, arguments: Value) -> Result<Option<Value>, Unfilled> {
        let Value::Object(arguments) = arguments else { unreachable!("an object") };
        template.fill(&Scope::of(&arguments))
    }

    #[test]
    fn single_placeholder_keeps_its_type() {
        let value = Template::Value(reference("n", &[], false));
        assert_eq!(filled(&value, json!({"n": 5})), Ok(Some(json!(5))));
        let segments = vec![Segment::Literal("no. ".into()), Segment::Value(reference("n", &["0"], false))];
        let text = Template::Text(segments.into());
        assert_eq!(filled(&text, json!({"n": [5]})), Ok(Some(json!("no. 5"))));
        assert_eq!(filled(&text, json!({"n": []})), Err(Unfilled(reference("n", &["0"], false))));
    }

    #[test]
    fn member_with_a_missing_optional_value_is_omitted() {
        let optional = Template::Value(reference("a", &[], true));
        let members = vec![("a".into(), optional.clone()), ("b".into(), Template::Constant("1".into()))];
        assert_eq!(filled(&Template::Object(members.into()), json!({"a": null})), Ok(Some(json!({"b": 1}))));
        assert_eq!(filled(&Template::List(vec![optional.clone()].into()), json!({})), Ok(Some(json!([]))));
        assert_eq!(filled(&optional, json!({})), Ok(None));
    }

    #[test]
    fn conditions_compare_by_value() {
        let arguments = json!({"on": true, "n": 1.0, "none": null});
        let Value::Object(arguments) = arguments else { unreachable!("an object") };
        let scope = Scope::of(&arguments);
        let given = |name| Condition::Given(reference(name, &[], true));
        let one =
            Condition::Equal(Template::Value(reference("n", &[], false)), Template::Constant("1".into()));
        let not = Condition::Not(Frozen::Shared(std::sync::Arc::new(given("none"))));
        let all = vec![given("n"), Condition::True(reference("on", &[], false)), one.clone(), not];
        assert_eq!(Condition::All(all.into()).holds(&scope), Ok(true));
        assert_eq!(Condition::Any(vec![given("none"), one].into()).holds(&scope), Ok(true));
        assert_eq!(Condition::Any(List::EMPTY).holds(&scope), Ok(false));
    }
}
