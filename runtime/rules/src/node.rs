//! Compiled conditions, and their evaluation.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Value};
use toolgen_core::Text;
use toolgen_core::internal::try_find;

use crate::syntax::{Op, Quantifier};
use crate::value::{Const, Val};

/// What a condition can see of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallView<'a> {
    /// The arguments, an object, under the names that a model sees, with their defaults.
    pub arguments: &'a Value,
    /// The ID and the scopes of the principal.
    pub principal: Option<(&'a str, &'a [Text])>,
    /// The ID of the session; empty if there is none.
    pub session: &'a str,
    /// The ID of the agent; empty if there is none.
    pub agent: &'a str,
    /// How many tool-to-tool calls are above the call.
    pub depth: u32,
    /// How many agents are above the call.
    pub agent_depth: u32,
}

impl<'a> CallView<'a> {
    /// Creates the view of a call with these arguments, without a principal, a session or an agent.
    #[must_use]
    pub fn new(arguments: &'a Value) -> CallView<'a> {
        CallView { arguments, principal: None, session: "", agent: "", depth: 0, agent_depth: 0 }
    }

    /// Sets the ID and the scopes of the principal.
    #[must_use]
    pub fn with_principal(mut self, id: &'a str, scopes: &'a [Text]) -> CallView<'a> {
        self.principal = Some((id, scopes));
        self
    }

    /// Sets the ID of the session.
    #[must_use]
    pub fn with_session(mut self, session: &'a str) -> CallView<'a> {
        self.session = session;
        self
    }

    /// Sets the ID of the agent.
    #[must_use]
    pub fn with_agent(mut self, agent: &'a str) -> CallView<'a> {
        self.agent = agent;
        self
    }

    /// Sets how many tool-to-tool calls, and how many agents, are above the call.
    #[must_use]
    pub fn with_depths(mut self, depth: u32, agent_depth: u32) -> CallView<'a> {
        (self.depth, self.agent_depth) = (depth, agent_depth);
        self
    }
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Const(Const),
    /// The arguments.
    Arguments,
    /// The item of the innermost quantifiers, from the outside in.
    Item(usize),
    Principal,
    Scopes,
    HasScope(Box<Node>),
    HasPrincipal,
    Session,
    Agent,
    Depth,
    AgentDepth,
    Member(Box<Node>, String),
    Has(Box<Node>, String),
    Index(Box<Node>, Box<Node>),
    List(Vec<Node>),
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Choice(Box<[Node; 3]>),
    Equal(Box<Node>, Box<Node>),
    Order(Op, Box<Node>, Box<Node>),
    In(Box<Node>, Box<Node>),
    Integers(Op, Box<Node>, Box<Node>),
    Doubles(Op, Box<Node>, Box<Node>),
    Join(Box<Node>, Box<Node>),
    NegativeInt(Box<Node>),
    NegativeDouble(Box<Node>),
    Size(Box<Node>),
    Text(TextTest, Box<Node>, Box<Node>),
    Quantified(Quantifier, Box<Node>, Box<Node>),
}

/// A test of two strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
    Matches,
}

/// Why a condition has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) String);

type Evaluated<'a> = Result<Val<'a>, Failure>;

fn failure<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure(message.into()))
}

impl Node {
    pub(crate) fn evaluate<'a>(&'a self, call: &CallView<'a>, items: &mut Vec<Val<'a>>) -> Evaluated<'a> {
        Ok(match self {
            Node::Const(constant) => constant.value(),
            Node::Arguments => Val::of(call.arguments),
            Node::Item(index) => items.get(*index).cloned().unwrap_or(Val::Null),
            Node::Principal => text(call.principal.map_or("", |(id, _)| id)),
            Node::Scopes => Val::Scopes(call.principal.map_or(&[], |(_, scopes)| scopes)),
            Node::HasScope(scope) => {
                let scope = scope.text(call, items)?;
                let scopes = call.principal.map_or(&[][..], |(_, scopes)| scopes);
                Val::Bool(scopes.iter().any(|other| other.as_str() == scope))
            }
            Node::HasPrincipal => Val::Bool(call.principal.is_some()),
            Node::Session => text(call.session),
            Node::Agent => text(call.agent),
            Node::Depth => Val::Int(call.depth.into()),
            Node::AgentDepth => Val::Int(call.agent_depth.into()),
            Node::Member(inner, name) => {
                let members = inner.members(call, items)?;
                match find(members, name) {
                    Some(value) => Val::of(value),
                    None => return failure(format!("`{name}` is absent")),
                }
            }
            Node::Has(inner, name) => Val::Bool(find(inner.members(call, items)?, name).is_some()),
            Node::Index(inner, index) => {
                return at(&inner.evaluate(call, items)?, &index.evaluate(call, items)?);
            }
            Node::List(nodes) => {
                Val::Values(nodes.iter().map(|node| node.evaluate(call, items)).collect::<Result<_, _>>()?)
            }
            Node::Size(inner) => {
                let value = inner.evaluate(call, items)?;
                match value.size() {
                    Some(size) => Val::Int(i64::try_from(size).unwrap_or(i64::MAX)),
                    None => return failure(format!("{} has no size", value.type_name())),
                }
            }
            Node::Choice(parts) => {
                let [condition, first, second] = &**parts;
                let chosen = if condition.test(call, items)? { first } else { second };
                return chosen.evaluate(call, items);
            }
            Node::Integers(op, left, right) => {
                let (left, right) = (left.integer(call, items)?, right.integer(call, items)?);
                return integers(*op, left, right);
            }
            Node::Doubles(op, left, right) => {
                let (left, right) = (left.double(call, items)?, right.double(call, items)?);
                Val::Double(match op {
                    Op::Add => left + right,
                    Op::Subtract => left - right,
                    Op::Multiply => left * right,
                    _ => left / right,
                })
            }
            Node::Join(left, right) => {
                let joined = left.text(call, items)?.into_owned() + &right.text(call, items)?;
                Val::Text(Cow::Owned(joined))
            }
            Node::NegativeInt(inner) => match inner.integer(call, items)?.checked_neg() {
                Some(value) => Val::Int(value),
                None => return failure("an integer overflows"),
            },
            Node::NegativeDouble(inner) => Val::Double(-inner.double(call, items)?),
            _ => Val::Bool(self.test(call, items)?),
        })
    }

    /// Evaluates a condition.
    pub(crate) fn test<'a>(&'a self, call: &CallView<'a>, items: &mut Vec<Val<'a>>) -> Result<bool, Failure> {
        Ok(match self {
            Node::Not(inner) => !inner.test(call, items)?,
            // As in CEL, a side that decides alone does so even if the other has no value.
            Node::And(left, right) => return both(left.test(call, items), false, || right.test(call, items)),
            Node::Or(left, right) => return both(left.test(call, items), true, || right.test(call, items)),
            Node::Equal(left, right) => left.evaluate(call, items)?.equals(&right.evaluate(call, items)?),
            Node::Order(op, left, right) => {
                let (left, right) = (left.evaluate(call, items)?, right.evaluate(call, items)?);
                let Some(order) = left.compare(&right) else {
                    return failure(format!("{} and {} have no order", left.type_name(), right.type_name()));
                };
                is_ordered(*op, order)
            }
            Node::In(item, list) => {
                let (item, list) = (item.evaluate(call, items)?, list.evaluate(call, items)?);
                match list.contains(&item) {
                    Some(is_in) => is_in,
                    None => return failure(format!("{} contains nothing", list.type_name())),
                }
            }
            Node::Text(test, left, right) => {
                let (left, right) = (left.text(call, items)?, right.text(call, items)?);
                match test {
                    TextTest::StartsWith => left.starts_with(right.as_ref()),
                    TextTest::EndsWith => left.ends_with(right.as_ref()),
                    TextTest::Contains => left.contains(right.as_ref()),
                    TextTest::Matches => match try_find(&right, &left) {
                        Some(is_found) => is_found,
                        None => return failure("matching the pattern takes too many steps"),
                    },
                }
            }
            Node::Quantified(quantifier, list, body) => {
                let list = list.evaluate(call, items)?;
                let Some(values) = list.items() else {
                    return failure(format!("{} is not a list", list.type_name()));
                };
                return quantified(*quantifier, values, |value| {
                    items.push(value);
                    let outcome = body.test(call, items);
                    items.pop();
                    outcome
                });
            }
            _ => match self.evaluate(call, items)? {
                Val::Bool(value) => value,
                other => return failure(format!("{} is not a boolean", other.type_name())),
            },
        })
    }

    fn members<'a>(
        &'a self,
        call: &CallView<'a>,
        items: &mut Vec<Val<'a>>,
    ) -> Result<&'a Map<String, Value>, Failure> {
        if let (Node::Arguments, Value::Object(members)) = (self, call.arguments) {
            return Ok(members);
        }
        match self.evaluate(call, items)? {
            Val::Object(members) => Ok(members),
            other => failure(format!("{} has no members", other.type_name())),
        }
    }

    fn text<'a>(&'a self, call: &CallView<'a>, items: &mut Vec<Val<'a>>) -> Result<Cow<'a, str>, Failure> {
        match self.evaluate(call, items)? {
            Val::Text(text) => Ok(text),
            other => failure(format!("{} is not a string", other.type_name())),
        }
    }

    fn integer<'a>(&'a self, call: &CallView<'a>, items: &mut Vec<Val<'a>>) -> Result<i64, Failure> {
        match self.evaluate(call, items)? {
            Val::Int(value) => Ok(value),
            // JSON Schema calls `5.0` an integer.
            #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and in range")]
            Val::Double(value) if value.fract() == 0.0 && value.abs() < 2f64.powi(63) => Ok(value as i64),
            Val::Large(_) | Val::Double(_) => failure("an integer overflows"),
            other => failure(format!("{} is not an integer", other.type_name())),
        }
    }

    fn double<'a>(&'a self, call: &CallView<'a>, items: &mut Vec<Val<'a>>) -> Result<f64, Failure> {
        match self.evaluate(call, items)? {
            Val::Double(value) => Ok(value),
            #[expect(clippy::cast_precision_loss, reason = "numbers are doubles here")]
            Val::Int(value) => Ok(value as f64),
            #[expect(clippy::cast_precision_loss, reason = "numbers are doubles here")]
            Val::Large(value) => Ok(value as f64),
            other => failure(format!("{} is not a number", other.type_name())),
        }
    }
}

/// Maximum number of members that are compared one by one, which takes less time than a hash.
const MAX_COMPARED: usize = 16;

fn find<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if members.len() > MAX_COMPARED {
        return members.get(name);
    }
    members.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn text(text: &str) -> Val<'_> {
    Val::Text(Cow::Borrowed(text))
}

/// Combines two conditions, one of which is enough if it has a value.
fn both(
    left: Result<bool, Failure>,
    enough: bool,
    right: impl FnOnce() -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    if left == Ok(enough) {
        return Ok(enough);
    }
    match right() {
        Ok(right) if right == enough => Ok(enough),
        right => left.and(right),
    }
}

fn quantified<'a>(
    quantifier: Quantifier,
    values: Vec<Val<'a>>,
    mut test: impl FnMut(Val<'a>) -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    let enough = quantifier == Quantifier::Exists;
    let mut outcome = Ok(!enough);
    for value in values {
        match test(value) {
            Ok(value) if value == enough => return Ok(enough),
            Ok(_) => {}
            failed => outcome = failed,
        }
    }
    outcome
}

fn is_ordered(op: Op, order: Ordering) -> bool {
    match op {
        Op::Less => order.is_lt(),
        Op::LessOrEqual => order.is_le(),
        Op::Greater => order.is_gt(),
        _ => order.is_ge(),
    }
}

fn integers<'a>(op: Op, left: i64, right: i64) -> Evaluated<'a> {
    let value = match op {
        Op::Add => left.checked_add(right),
        Op::Subtract => left.checked_sub(right),
        Op::Multiply => left.checked_mul(right),
        Op::Divide if right == 0 => return failure("a division by zero"),
        Op::Divide => left.checked_div(right),
        _ if right == 0 => return failure("a division by zero"),
        _ => left.checked_rem(right),
    };
    value.map_or_else(|| failure("an integer overflows"), |value| Ok(Val::Int(value)))
}

/// Returns the item of a list or the member of an object.
fn at<'a>(value: &Val<'a>, index: &Val<'_>) -> Evaluated<'a> {
    let found = match (value, index) {
        (Val::Object(members), Val::Text(name)) => members.get(name.as_ref()).map(Val::of),
        (Val::List(items), Val::Int(index)) => {
            usize::try_from(*index).ok().and_then(|index| items.get(index)).map(Val::of)
        }
        (list, Val::Int(index)) => {
            let item = usize::try_from(*index).ok();
            list.items().zip(item).and_then(|(items, index)| items.into_iter().nth(index))
        }
        _ => None,
    };
    match found {
        Some(value) => Ok(value),
        None => failure(format!("the index {} does not exist", index.to_json())),
    }
}
