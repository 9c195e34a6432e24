//! Names, members and indexes.

use toolgen_core::internal::closest_match;

use super::facts::{Fact, joined, path};
use super::{Checker, Typed};
use crate::logic::Formula;
use crate::node::Node;
use crate::problem::ProblemKind;
use crate::syntax::{Expr, Kind};
use crate::types::{Described, Domain, MemberOf, Presence, Type, describe, member, names};
use crate::value::Const;

/// The variables.
const ROOTS: [&str; 4] = ["args", "principal", "context", "tool"];
const PRINCIPAL: [&str; 2] = ["name", "scopes"];
const CONTEXT: [&str; 4] = ["session", "agent", "depth", "agent_depth"];
const TOOL: [&str; 3] = ["name", "category", "effects"];

/// The member of an object.
enum Found<'a> {
    Known {
        described: Described<'a>,
        shape: Option<&'a toolgen_core::Shape>,
        presence: Presence,
    },
    /// It is known only when a call is made.
    Any {
        is_optional: bool,
    },
}

impl<'a> Checker<'a> {
    pub(super) fn name(&mut self, name: &str, expr: &Expr) -> Option<Typed<'a>> {
        if let Some(index) = self.variables.iter().position(|(variable, ..)| variable == name) {
            let (_, described, shape) = self.variables.get(index)?.clone();
            return Some(of_description(Node::Item(index), described, shape));
        }
        if name == "args" {
            return Some(Typed::new(Node::Arguments, self.arguments()));
        }
        let help = match name {
            "principal" => {
                format!("write one of {}, or `principal.has(\"scope\")`", list("principal", &PRINCIPAL))
            }
            "context" => format!("write one of {}", list("context", &CONTEXT)),
            "tool" => format!("write one of {}", list("tool", &TOOL)),
            _ => {
                let arguments = match self.arguments() {
                    Type::Object(rules) => names(rules),
                    _ => Vec::new(),
                };
                let help = match closest_match(name, ROOTS) {
                    _ if arguments.contains(&name) => format!("write `args.{name}`"),
                    Some(root) => format!("did you mean `{root}`?"),
                    None => format!("the variables are {}", list("", &ROOTS)),
                };
                let message = format!("unknown variable `{name}`");
                return self.report(ProblemKind::UnknownName, expr.span, message, help);
            }
        };
        self.type_error(expr.span, format!("`{name}` is not a value"), help)
    }

    /// Returns the root that an expression names, unless a variable hides it.
    pub(super) fn root<'e>(&self, expr: &'e Expr) -> Option<&'e str> {
        match &expr.kind {
            Kind::Name(name) if !self.variables.iter().any(|(variable, ..)| variable == name) => {
                Some(name.as_str()).filter(|name| *name != "args" && ROOTS.contains(name))
            }
            _ => None,
        }
    }

    pub(super) fn member(&mut self, inner: &Expr, name: &str, expr: &Expr) -> Option<Typed<'a>> {
        if let Some(root) = self.root(inner) {
            return self.member_of_root(root, name, expr);
        }
        let typed = self.expr(inner)?;
        self.not_null(inner, &typed)?;
        let found = self.find(&typed, inner, name, expr)?;
        let node = Node::Member(Box::new(typed.node), name.to_owned());
        let is_known = self.is_part || self.knows(Fact::is_present, expr);
        match found {
            Found::Any { is_optional } => {
                if is_optional && !is_known {
                    return self.absent(expr);
                }
                let fallible = typed.fallible || !is_known;
                Some(Typed { nullable: true, fallible, ..Typed::new(node, Type::Any) })
            }
            Found::Known { presence: Presence::Optional, .. } if !is_known => self.absent(expr),
            Found::Known { described, shape, presence } => {
                let fallible = typed.fallible || (presence == Presence::Usually && !is_known);
                Some(Typed { fallible, ..of_description(node, described, shape) })
            }
        }
    }

    fn absent<T>(&mut self, expr: &Expr) -> Option<T> {
        let guard = match &expr.kind {
            Kind::Index(inner, name) => format!("{name} in {inner}"),
            _ => format!("has({expr})"),
        };
        let message = format!("`{expr}` is optional, and may be absent");
        self.type_error(expr.span, message, format!("write `{guard} && …` before it"))
    }

    fn find(&mut self, typed: &Typed<'a>, inner: &Expr, name: &str, expr: &Expr) -> Option<Found<'a>> {
        let is_arguments = matches!(typed.node, Node::Arguments);
        let rules = match &typed.kind {
            Type::Object(rules) => *rules,
            Type::Any => return Some(Found::Any { is_optional: is_arguments }),
            other => {
                let message = format!("`{inner}` is {other}, and has no members");
                return self.type_error(expr.span, message, "only objects have members");
            }
        };
        let found = match member(rules, name, self.defs, is_arguments) {
            MemberOf::Extra(None) => return Some(Found::Any { is_optional: true }),
            MemberOf::Extra(Some(shape)) => (describe(shape, self.defs), shape, Presence::Optional),
            MemberOf::Field { field, presence } => {
                let mut described = describe(&field.shape, self.defs);
                let has_null = field.shape.default.as_ref().is_some_and(|value| value.to_json().is_null());
                described.nullable |= has_null && !field.required;
                (described, &field.shape, presence)
            }
            MemberOf::Unknown => return self.unknown_member(is_arguments, inner, name, &names(rules), expr),
        };
        let (described, shape, presence) = found;
        Some(Found::Known { described, shape: Some(shape), presence })
    }

    fn unknown_member<T>(
        &mut self,
        is_arguments: bool,
        inner: &Expr,
        name: &str,
        names: &[&str],
        expr: &Expr,
    ) -> Option<T> {
        let message = if is_arguments {
            format!("the tool `{}` has no argument `{name}`", self.spec.name)
        } else {
            format!("`{inner}` has no member `{name}`")
        };
        let help = match closest_match(name, names.iter().copied()) {
            Some(closest) => format!("did you mean `{inner}.{closest}`?"),
            None if names.is_empty() => "it has none".to_owned(),
            None => format!("it has {}", list("", names)),
        };
        self.report(ProblemKind::UnknownName, expr.span, message, help)
    }

    fn member_of_root(&mut self, root: &str, name: &str, expr: &Expr) -> Option<Typed<'a>> {
        let counter = Domain::of_sizes(None, None);
        Some(match (root, name) {
            ("principal", "name") => Typed::new(Node::Principal, Type::Text),
            ("principal", "scopes") => {
                let item = crate::types::Item::Type(Box::new(Type::Text));
                Typed::new(Node::Scopes, Type::List(item))
            }
            ("context", "session") => Typed::new(Node::Session, Type::Text),
            ("context", "agent") => Typed::new(Node::Agent, Type::Text),
            ("context", "depth") => Typed { domain: counter, ..Typed::new(Node::Depth, Type::Int) },
            ("context", "agent_depth") => {
                Typed { domain: counter, ..Typed::new(Node::AgentDepth, Type::Int) }
            }
            ("tool", "name") => Typed::constant(Const::Text(self.spec.name.to_string())),
            ("tool", "category") => Typed::constant(Const::Text(self.spec.category.to_string())),
            ("tool", "effects") => {
                let item = crate::types::Item::Type(Box::new(Type::Text));
                Typed { kind: Type::List(item), ..Typed::constant(self.effects()) }
            }
            _ => {
                let names: &[&str] = match root {
                    "principal" => &PRINCIPAL,
                    "context" => &CONTEXT,
                    _ => &TOOL,
                };
                let help = match closest_match(name, names.iter().copied()) {
                    Some(closest) => format!("did you mean `{root}.{closest}`?"),
                    None => format!("write one of {}", list(root, names)),
                };
                let message = format!("`{root}` has no member `{name}`");
                return self.report(ProblemKind::UnknownName, expr.span, message, help);
            }
        })
    }

    pub(super) fn index(&mut self, inner: &Expr, index: &Expr, expr: &Expr) -> Option<Typed<'a>> {
        if let Kind::Text(name) = &index.kind {
            return self.member(inner, name, expr);
        }
        let (list, at) = (self.expr(inner), self.expr(index));
        let (list, at) = (list?, at?);
        self.not_null(inner, &list)?;
        match (&list.kind, &at.kind) {
            (Type::List(item), Type::Int) => {
                let (described, shape) = self.items(item);
                let node = Node::Index(Box::new(list.node), Box::new(at.node));
                // The list may be shorter.
                Some(Typed { fallible: true, ..of_description(node, described, shape) })
            }
            (Type::Any, Type::Int | Type::Text | Type::Any) => {
                let node = Node::Index(Box::new(list.node), Box::new(at.node));
                Some(Typed { fallible: true, nullable: true, ..Typed::new(node, Type::Any) })
            }
            (list, at) => {
                let message = format!("`{inner}` is {list}, and `{index}` {at}");
                self.type_error(
                    expr.span,
                    message,
                    "an index is an integer for a list, or a string in quotes for an object",
                )
            }
        }
    }

    /// `has(args.x)`, or `"x" in args`.
    pub(super) fn has(&mut self, inner: &Expr, name: &str, expr: &Expr) -> Option<Typed<'a>> {
        if let Some(root) = self.root(inner) {
            if (root, name) == ("principal", "name") {
                let formula = Formula::Opaque("has(principal.name)".into());
                return Some(Typed { formula: Some(formula), ..Typed::new(Node::HasPrincipal, Type::Bool) });
            }
            let message = format!("`{root}.{name}` is always there");
            let help = "only arguments, their members and `principal.name` may be absent";
            return self.type_error(expr.span, message, help);
        }
        let typed = self.expr(inner)?;
        self.not_null(inner, &typed)?;
        let found = self.find(&typed, inner, name, expr)?;
        let path = joined(&path(inner).unwrap_or_else(|| inner.to_string()), name);
        let formula = match found {
            Found::Known { presence: Presence::Always, .. } => Formula::Const(true),
            _ => Formula::Opaque(format!("has({path})").into()),
        };
        let fallible = typed.fallible || (typed.kind.is_any() && !matches!(typed.node, Node::Arguments));
        let node = Node::Has(Box::new(typed.node), name.to_owned());
        Some(Typed { formula: Some(formula), fallible, ..Typed::new(node, Type::Bool) })
    }
}

fn of_description<'a>(
    node: Node,
    described: Described<'a>,
    shape: Option<&'a toolgen_core::Shape>,
) -> Typed<'a> {
    let Described { kind, nullable, mut domain } = described;
    if nullable {
        // `null` is another value.
        domain.values = None;
    }
    Typed { nullable, domain, shape, ..Typed::new(node, kind) }
}

/// Lists names: `` `a.x`, `a.y` ``.
pub(super) fn list(root: &str, names: &[&str]) -> String {
    let dot = if root.is_empty() { "" } else { "." };
    let names: Vec<String> = names.iter().map(|name| format!("`{root}{dot}{name}`")).collect();
    names.join(", ")
}
