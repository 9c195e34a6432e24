//! [`Template`] and [`Condition`] as constant expressions.

use toolgen_core::Text;
use toolgen_core::spec::template::{Condition, Reference, Root, Segment, Template};

use super::super::expr::Expr;
use super::super::fields::{list_of, some, texts};

pub(super) fn template(template: &Template) -> Expr {
    match template {
        Template::Constant(json) => Expr::Call("Template::Constant", vec![Expr::text(json)]),
        Template::Value(value) => Expr::Call("Template::Value", vec![reference(value)]),
        Template::Text(segments) => Expr::Call("Template::Text", vec![list_of(segments, segment)]),
        Template::List(items) => Expr::Call("Template::List", vec![list_of(items, self::template)]),
        Template::Object(members) => Expr::Call("Template::Object", vec![list_of(members, member)]),
        Template::With(argument, members) => {
            let json = |json: &Option<Text>| {
                json.as_ref().map_or_else(|| Expr::atom("None"), |json| some(Expr::text(json)))
            };
            let member = |(name, value): &(Text, _)| Expr::Call("", vec![Expr::text(name), json(value)]);
            Expr::Call("Template::With", vec![reference(argument), list_of(members, member)])
        }
    }
}

/// A name with a template.
pub(super) fn member((name, value): &(Text, Template)) -> Expr {
    Expr::Call("", vec![Expr::text(name), template(value)])
}

fn segment(segment: &Segment) -> Expr {
    match segment {
        Segment::Literal(text) => Expr::Call("Segment::Literal", vec![Expr::text(text)]),
        Segment::Value(value) => Expr::Call("Segment::Value", vec![reference(value)]),
    }
}

pub(super) fn reference(reference: &Reference) -> Expr {
    let Reference { root, path, optional } = reference;
    let root = match root {
        Root::Argument(name) => Expr::Call("Root::Argument", vec![Expr::text(name)]),
        Root::Step(name) => Expr::Call("Root::Step", vec![Expr::text(name)]),
        Root::Item => Expr::atom("Root::Item"),
    };
    let fields = vec![("root", root), ("path", texts(path)), ("optional", Expr::atom(optional.to_string()))];
    Expr::Struct { head: "Reference", fields, base: None }
}

pub(super) fn condition(condition: &Condition) -> Expr {
    match condition {
        Condition::Given(value) => Expr::Call("Condition::Given", vec![reference(value)]),
        Condition::True(value) => Expr::Call("Condition::True", vec![reference(value)]),
        Condition::Equal(left, right) => {
            Expr::Call("Condition::Equal", vec![template(left), template(right)])
        }
        Condition::Not(inner) => {
            let inner = Expr::Borrow(Box::new(self::condition(inner)));
            Expr::Call("Condition::Not", vec![Expr::Call("S", vec![inner])])
        }
        Condition::All(parts) => Expr::Call("Condition::All", vec![list_of(parts, self::condition)]),
        Condition::Any(parts) => Expr::Call("Condition::Any", vec![list_of(parts, self::condition)]),
    }
}
