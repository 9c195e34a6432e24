//! Functions, methods and quantifiers.

use toolgen_core::internal::closest_match;
use toolgen_core::schema::shape::is_pattern;

use super::access::list;
use super::{Checker, Typed, opaque};
use crate::node::{Node, TextTest};
use crate::problem::ProblemKind;
use crate::syntax::{Expr, Kind, Quantifier};
use crate::types::{Domain, Type, sizes};
use crate::value::Const;

const FUNCTIONS: [&str; 2] = ["has", "size"];
const METHODS: [&str; 7] = ["startsWith", "endsWith", "contains", "matches", "size", "all", "exists"];

impl<'a> Checker<'a> {
    pub(super) fn call(
        &mut self,
        receiver: Option<&Expr>,
        name: &str,
        arguments: &[Expr],
        expr: &Expr,
    ) -> Option<Typed<'a>> {
        let test = match name {
            "startsWith" => Some(TextTest::StartsWith),
            "endsWith" => Some(TextTest::EndsWith),
            "contains" => Some(TextTest::Contains),
            "matches" => Some(TextTest::Matches),
            _ => None,
        };
        match (receiver, name, arguments, test) {
            (None, "has", [argument], _) => match &argument.kind {
                Kind::Member(inner, member) => self.has(inner, member, expr),
                _ => {
                    let message = format!("`has` asks for a member, and `{argument}` is none");
                    self.type_error(expr.span, message, "write `has(args.name)`")
                }
            },
            (None, "size", [value], _) | (Some(value), "size", [], _) => self.size(value, expr),
            (Some(principal), "has", [scope], _) if self.root(principal) == Some("principal") => {
                let typed = self.text(scope)?;
                let formula = opaque(expr);
                let node = Node::HasScope(Box::new(typed.node));
                let fallible = typed.fallible;
                Some(Typed { formula: Some(formula), fallible, ..Typed::new(node, Type::Bool) })
            }
            (Some(value), _, [other], Some(test)) => self.text_test(test, value, other, expr),
            _ => self.unknown_call(receiver, name, arguments, expr),
        }
    }

    fn unknown_call<T>(
        &mut self,
        receiver: Option<&Expr>,
        name: &str,
        arguments: &[Expr],
        expr: &Expr,
    ) -> Option<T> {
        let known: &[&str] = if receiver.is_some() { &METHODS } else { &FUNCTIONS };
        let noun = if receiver.is_some() { "method" } else { "function" };
        if known.contains(&name) {
            let message = format!("`{name}` does not take {} values", arguments.len());
            let help = match (name, receiver.is_some()) {
                ("has", _) => "write `has(args.name)`",
                ("size", _) => "write `size(value)`",
                _ => "write `text.startsWith(\"start\")`, with one string in parentheses",
            };
            return self.type_error(expr.span, message, help);
        }
        let help = match closest_match(name, known.iter().copied()) {
            Some(closest) => format!("did you mean `{closest}`?"),
            None => {
                format!(
                    "the functions are {}, the methods {} and `principal.has`",
                    list("", &FUNCTIONS),
                    list("", &METHODS)
                )
            }
        };
        self.report(ProblemKind::UnknownName, expr.span, format!("unknown {noun} `{name}`"), help)
    }

    /// Compiles an expression that must be a string.
    fn text(&mut self, expr: &Expr) -> Option<Typed<'a>> {
        let mut typed = self.expr(expr)?;
        self.not_null(expr, &typed)?;
        if !matches!(typed.kind, Type::Text | Type::Any) {
            let message = format!("`{expr}` is {}, not a string", typed.kind);
            return self.type_error(expr.span, message, "use a string");
        }
        typed.fallible |= typed.kind.is_any();
        Some(typed)
    }

    fn text_test(&mut self, test: TextTest, value: &Expr, other: &Expr, expr: &Expr) -> Option<Typed<'a>> {
        let (left, right) = (self.text(value), self.text(other));
        let (left, right) = (left?, right?);
        if test == TextTest::Matches {
            match &right.constant {
                Some(Const::Text(pattern)) if is_pattern(pattern) => {}
                Some(_) => {
                    let message = format!("{other} is not a regular expression");
                    return self.type_error(
                        other.span,
                        message,
                        "write an expression of ECMA-262, as in JSON Schema",
                    );
                }
                None => {
                    let message = format!("the pattern `{other}` is not a constant");
                    return self.type_error(other.span, message, "write the pattern as a string");
                }
            }
        }
        let node = Node::Text(test, Box::new(left.node.clone()), Box::new(right.node.clone()));
        let mut typed = Typed::condition(node, opaque(expr), [&left, &right]);
        // Matching may take too many steps.
        typed.fallible |= test == TextTest::Matches;
        Some(typed)
    }

    fn size(&mut self, value: &Expr, expr: &Expr) -> Option<Typed<'a>> {
        let typed = self.expr(value)?;
        self.not_null(value, &typed)?;
        if !matches!(typed.kind, Type::Text | Type::List(_) | Type::Object(_) | Type::Any) {
            let message = format!("`{value}` is {}, and has no size", typed.kind);
            return self.type_error(expr.span, message, "strings, lists and objects have a size");
        }
        let domain = match typed.shape {
            Some(shape) => sizes(shape, self.defs),
            None => Domain::of_sizes(None, None),
        };
        let fallible = typed.fallible || typed.kind.is_any();
        Some(Typed { domain, fallible, ..Typed::new(Node::Size(Box::new(typed.node)), Type::Int) })
    }

    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        list: &Expr,
        name: &str,
        body: &Expr,
        expr: &Expr,
    ) -> Option<Typed<'a>> {
        let typed = self.expr(list)?;
        self.not_null(list, &typed)?;
        let is_taken = ["args", "principal", "context", "tool"].contains(&name)
            || self.variables.iter().any(|(variable, ..)| variable == name);
        if is_taken {
            let message = format!("the name `{name}` is taken");
            return self.type_error(expr.span, message, "choose another name for the items");
        }
        let item = match &typed.kind {
            Type::List(item) => item.clone(),
            Type::Any => crate::types::Item::Type(Box::new(Type::Any)),
            other => {
                let message = format!("`{list}` is {other}, not a list");
                return self.type_error(list.span, message, "`all` and `exists` test the items of a list");
            }
        };
        let (described, shape) = self.items(&item);
        self.variables.push((name.to_owned(), described, shape));
        let condition = self.condition(body);
        self.variables.pop();
        let condition = condition?;
        let fallible = typed.fallible || typed.kind.is_any() || condition.fallible;
        let node = Node::Quantified(quantifier, Box::new(typed.node), Box::new(condition.node));
        Some(Typed { fallible, formula: Some(opaque(expr)), ..Typed::new(node, Type::Bool) })
    }
}
