//! Values that are computed from the arguments of a call and from the results of other calls.
//!
//! A manifest writes them as JSON with placeholders: `{"to": "{email}", "subject": "Order {id}"}`. A string that
//! consists of one placeholder is replaced by the value itself; a placeholder within a string is replaced by the value
//! as text.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use crate::base::frozen::{Frozen, List, Text};

/// A JSON value with placeholders.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    /// A constant, as JSON.
    Constant(Text),
    /// The value of a reference.
    Value(Reference),
    /// Literals and references, joined to one string.
    Text(List<Segment>),
    /// A list. An item whose optional reference has no value is omitted.
    List(List<Template>),
    /// An object. A member whose optional reference has no value is omitted.
    Object(List<(Text, Template)>),
    /// The object of a reference, if it has a value, with these additional members: constants, as JSON. Members
    /// without a value are removed from the object.
    With(Reference, List<(Text, Option<Text>)>),
}

/// A part of a string.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// A literal string.
    Literal(Text),
    /// The value of a reference, as text.
    Value(Reference),
}

/// A reference to a value that is known when a call runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Where the path starts.
    pub root: Root,
    /// The path from there to the value: members of objects and indices of lists.
    pub path: List<Text>,
    /// Whether the value may be missing. If so, the item, member or string that contains the reference is omitted when
    /// the value is missing; otherwise the call fails.
    pub optional: bool,
}

/// Where a [`Reference`] starts.
#[derive(Clone, Debug, PartialEq)]
pub enum Root {
    /// The argument of this name.
    Argument(Text),
    /// The result of the step of this name.
    Step(Text),
    /// The current item of the list of a step with `for_each`.
    Item,
}

/// A condition on values that are known when a call runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The value exists and is not `null`.
    Given(Reference),
    /// The value is `true`.
    True(Reference),
    /// Both values are equal; numbers are compared by value. Two missing values are equal as well.
    Equal(Template, Template),
    /// The condition does not hold.
    Not(Frozen<Condition>),
    /// All conditions hold.
    All(List<Condition>),
    /// At least one condition holds.
    Any(List<Condition>),
}

/// The values that references can have.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The arguments of the call.
    pub arguments: &'a Map<String, Value>,
    /// The results of the completed steps, by the names of the steps.
    pub steps: Option<&'a Map<String, Value>>,
    /// The current item of the list of a step with `for_each`.
    pub item: Option<&'a Value>,
}

/// A required reference without a value.
#[derive(Clone, PartialEq)]
pub struct MissingValue(pub Reference);

impl<'a> Scope<'a> {
    /// Creates a scope with only arguments.
    #[must_use]
    pub fn of(arguments: &'a Map<String, Value>) -> Scope<'a> {
        Scope { arguments, steps: None, item: None }
    }

    /// Returns the value of a reference; `None` if it is missing or `null`.
    #[must_use]
    pub fn find(&self, reference: &Reference) -> Option<&'a Value> {
        let root = match &reference.root {
            Root::Argument(name) => self.arguments.get(name.as_str()),
            Root::Step(name) => self.steps.and_then(|steps| steps.get(name.as_str())),
            Root::Item => self.item,
        };
        let target = reference.path.iter().try_fold(root?, |value, key| match value {
            Value::Object(members) => members.get(key.as_str()),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })?;
        (!target.is_null()).then_some(target)
    }

    fn required(&self, reference: &Reference) -> Result<Option<&'a Value>, MissingValue> {
        match self.find(reference) {
            None if !reference.optional => Err(MissingValue(reference.clone())),
            value => Ok(value),
        }
    }
}

impl Template {
    /// Returns the value; `None` if it is an optional reference, or a string with one, that has no value.
    ///
    /// # Errors
    ///
    /// Returns the first required reference that has no value.
    pub fn fill(&self, scope: &Scope<'_>) -> Result<Option<Value>, MissingValue> {
        match self {
            Template::Constant(json) => Ok(serde_json::from_str(json).ok()),
            Template::Value(reference) => Ok(scope.required(reference)?.cloned()),
            Template::Text(segments) => Ok(join_segments(segments, scope)?.map(Value::String)),
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
                let constants: Map<String, Value> = constants.collect();
                match scope.required(reference)? {
                    Some(Value::Object(object)) => {
                        let mut object = object.clone();
                        object.extend(constants);
                        Ok(Some(Value::Object(object)))
                    }
                    None if constants.is_empty() => Ok(None),
                    None => Ok(Some(Value::Object(constants))),
                    Some(other) => Ok(Some(other.clone())),
                }
            }
        }
    }

    /// Returns the value as text, see [`text_of`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`fill`](Self::fill).
    pub fn fill_text(&self, scope: &Scope<'_>) -> Result<Option<String>, MissingValue> {
        match self {
            Template::Value(reference) => {
                Ok(scope.required(reference)?.map(|value| text_of(value).into_owned()))
            }
            Template::Text(segments) => join_segments(segments, scope),
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
    /// Returns the first required reference of a comparison that has no value.
    pub fn holds(&self, scope: &Scope<'_>) -> Result<bool, MissingValue> {
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

fn join_segments(segments: &[Segment], scope: &Scope<'_>) -> Result<Option<String>, MissingValue> {
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

/// Returns a value as text: a string unchanged, any other value as compact JSON.
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

/// Writes the reference as in a manifest, without the braces: `path`, `steps.find.files.0`, `item.name`, each with `?`
/// if it is optional.
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

impl fmt::Display for MissingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no value for `{}`", self.0)
    }
}

__readable_debug!(MissingValue);

impl std::error::Error for MissingValue {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reference(name: &str, path: &[&str], optional: bool) -> Reference {
        let path: Vec<Text> = path.iter().map(|key| Text::from((*key).to_owned())).collect();
        Reference { root: Root::Argument(name.to_owned().into()), path: path.into(), optional }
    }

    fn fill(template: &Template, arguments: Value) -> Result<Option<Value>, MissingValue> {
        let Value::Object(arguments) = arguments else { unreachable!("an object") };
        template.fill(&Scope::of(&arguments))
    }

    #[test]
    fn single_placeholder_keeps_its_type() {
        let value = Template::Value(reference("n", &[], false));
        assert_eq!(fill(&value, json!({"n": 5})), Ok(Some(json!(5))));
        let segments = vec![Segment::Literal("no. ".into()), Segment::Value(reference("n", &["0"], false))];
        let text = Template::Text(segments.into());
        assert_eq!(fill(&text, json!({"n": [5]})), Ok(Some(json!("no. 5"))));
        assert_eq!(fill(&text, json!({"n": []})), Err(MissingValue(reference("n", &["0"], false))));
    }

    #[test]
    fn member_with_a_missing_optional_value_is_omitted() {
        let optional = Template::Value(reference("a", &[], true));
        let members = vec![("a".into(), optional.clone()), ("b".into(), Template::Constant("1".into()))];
        assert_eq!(fill(&Template::Object(members.into()), json!({"a": null})), Ok(Some(json!({"b": 1}))));
        assert_eq!(fill(&Template::List(vec![optional.clone()].into()), json!({})), Ok(Some(json!([]))));
        assert_eq!(fill(&optional, json!({})), Ok(None));
    }

    #[test]
    fn conditions_compare_by_value() {
        let arguments = json!({"on": true, "n": 1.0, "none": null});
        let Value::Object(arguments) = arguments else { unreachable!("an object") };
        let scope = Scope::of(&arguments);
        let given = |name| Condition::Given(reference(name, &[], true));
        let equal =
            Condition::Equal(Template::Value(reference("n", &[], false)), Template::Constant("1".into()));
        let not = Condition::Not(Frozen::Shared(std::sync::Arc::new(given("none"))));
        let conditions = vec![given("n"), Condition::True(reference("on", &[], false)), equal.clone(), not];
        assert_eq!(Condition::All(conditions.into()).holds(&scope), Ok(true));
        assert_eq!(Condition::Any(vec![given("none"), equal].into()).holds(&scope), Ok(true));
        assert_eq!(Condition::Any(List::EMPTY).holds(&scope), Ok(false));
    }
}
