//! Compiles a condition for a tool: checks its names and types against the schema of the arguments.

mod access;
mod calls;
mod facts;
mod operators;

use std::sync::Arc;

use toolgen_core::spec::selector::EffectKind;
use toolgen_core::{Def, List, Shape, ToolSpec};

use crate::logic::{Formula, Term, is_scalar};
use crate::node::{CallView, Node};
use crate::problem::{Problem, ProblemKind, Span};
use crate::syntax::{Expr, Kind, Op};
use crate::types::{Described, Domain, Item, Type, arguments, describe};
use crate::value::Const;
use facts::{Fact, facts, path};

/// A condition that is compiled for a tool.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) node: Node,
    pub(crate) formula: Formula,
    /// Whether it may have no value for some call, such as after a division by zero.
    pub(crate) fallible: bool,
}

/// Compiles a condition for a tool.
pub(crate) fn compile(expr: &Expr, spec: &ToolSpec) -> Result<Compiled, Vec<Problem>> {
    let mut checker = Checker::new(spec);
    let compiled = checker.condition(expr);
    match compiled {
        Some(Typed { node, formula, fallible, .. }) if checker.problems.is_empty() => {
            Ok(Compiled { node, formula: formula.unwrap_or(Formula::Const(true)), fallible })
        }
        _ => Err(checker.problems),
    }
}

/// Compiles a part of a condition that was checked as a whole, so that what guards the part is not repeated.
pub(crate) fn compile_part(expr: &Expr, spec: &ToolSpec) -> Option<Node> {
    let mut checker = Checker { is_part: true, ..Checker::new(spec) };
    checker.expr(expr).map(|typed| typed.node)
}

/// An expression with its type.
#[derive(Clone, Debug)]
struct Typed<'a> {
    node: Node,
    kind: Type<'a>,
    nullable: bool,
    fallible: bool,
    domain: Domain,
    /// The schema of the value, for its size.
    shape: Option<&'a Shape>,
    constant: Option<Const>,
    /// Of a boolean.
    formula: Option<Formula>,
}

impl<'a> Typed<'a> {
    fn new(node: Node, kind: Type<'a>) -> Typed<'a> {
        Typed {
            node,
            kind,
            nullable: false,
            fallible: false,
            domain: Domain::default(),
            shape: None,
            constant: None,
            formula: None,
        }
    }

    fn constant(constant: Const) -> Typed<'a> {
        let kind = match &constant {
            Const::Null => Type::Null,
            Const::Bool(_) => Type::Bool,
            Const::Int(_) => Type::Int,
            Const::Double(_) => Type::Double,
            Const::Text(_) => Type::Text,
            Const::List(items) => {
                let kind = items.first().map_or(Type::Any, |item| Typed::constant(item.clone()).kind);
                Type::List(Item::Type(Box::new(kind)))
            }
        };
        let formula = match constant {
            Const::Bool(value) => Some(Formula::Const(value)),
            _ => None,
        };
        Typed { constant: Some(constant.clone()), formula, ..Typed::new(Node::Const(constant), kind) }
    }

    /// A condition that can be evaluated now if all its parts are constants.
    fn condition(node: Node, formula: Formula, parts: [&Typed<'_>; 2]) -> Typed<'a> {
        if parts.iter().all(|part| part.constant.is_some()) {
            let view = CallView::new(&serde_json::Value::Null);
            if let Ok(value) = node.test(&view, &mut Vec::new()) {
                return Typed::constant(Const::Bool(value));
            }
        }
        let fallible = parts.iter().any(|part| part.fallible);
        Typed { fallible, formula: Some(formula), ..Typed::new(node, Type::Bool) }
    }
}

struct Checker<'a> {
    spec: &'a ToolSpec,
    defs: &'a List<Def>,
    problems: Vec<Problem>,
    /// What the conditions before this place guarantee.
    facts: Vec<Fact>,
    /// The variables of quantifiers, from the outside in.
    variables: Vec<(String, Described<'a>, Option<&'a Shape>)>,
    is_part: bool,
}

impl<'a> Checker<'a> {
    fn new(spec: &'a ToolSpec) -> Checker<'a> {
        Checker {
            spec,
            defs: &spec.defs,
            problems: Vec::new(),
            facts: Vec::new(),
            variables: Vec::new(),
            is_part: false,
        }
    }

    fn report<T>(
        &mut self,
        kind: ProblemKind,
        span: Span,
        message: String,
        help: impl Into<String>,
    ) -> Option<T> {
        let problem = Problem::new(kind, span, message, help);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
        None
    }

    fn type_error<T>(&mut self, span: Span, message: String, help: impl Into<String>) -> Option<T> {
        self.report(ProblemKind::Type, span, message, help)
    }

    /// Compiles an expression that must be a boolean.
    fn condition(&mut self, expr: &Expr) -> Option<Typed<'a>> {
        let mut typed = self.expr(expr)?;
        self.not_null(expr, &typed)?;
        if !matches!(typed.kind, Type::Bool | Type::Any) {
            let message = format!("`{expr}` is {}, not a boolean", typed.kind);
            return self.type_error(expr.span, message, "compare it with something: `==`, `<`, `in`");
        }
        typed.fallible |= typed.kind.is_any();
        typed.kind = Type::Bool;
        if typed.formula.is_none() {
            typed.formula = Some(opaque(expr));
        }
        Some(typed)
    }

    /// Compiles a condition that is evaluated only if another one has this value.
    fn condition_after(&mut self, earlier: &Expr, value: bool, expr: &Expr) -> Option<Typed<'a>> {
        let known = self.facts.len();
        self.facts.extend(facts(earlier, value));
        let typed = self.condition(expr);
        self.facts.truncate(known);
        typed
    }

    fn expr(&mut self, expr: &Expr) -> Option<Typed<'a>> {
        match &expr.kind {
            Kind::Null => Some(Typed::constant(Const::Null)),
            Kind::Bool(value) => Some(Typed::constant(Const::Bool(*value))),
            Kind::Int(value) => Some(Typed::constant(Const::Int(*value))),
            Kind::Double(value) => Some(Typed::constant(Const::Double(*value))),
            Kind::Text(text) => Some(Typed::constant(Const::Text(text.clone()))),
            Kind::List(items) => self.list(items),
            Kind::Name(name) => self.name(name, expr),
            Kind::Member(inner, name) => self.member(inner, name, expr),
            Kind::Index(inner, index) => self.index(inner, index, expr),
            Kind::Call(receiver, name, arguments) => self.call(receiver.as_deref(), name, arguments, expr),
            Kind::Not(inner) => {
                let inner = self.condition(inner)?;
                let formula = inner.formula.clone()?.not();
                Some(Typed::condition(Node::Not(Box::new(inner.node.clone())), formula, [&inner, &inner]))
            }
            Kind::Negative(inner) => self.negative(inner, expr),
            Kind::Binary(Op::And, left, right) => self.both(left, right, true),
            Kind::Binary(Op::Or, left, right) => self.both(left, right, false),
            Kind::Binary(op, left, right) => {
                let (left_typed, right_typed) = (self.expr(left), self.expr(right));
                self.operator(*op, (left, left_typed?), (right, right_typed?), expr)
            }
            Kind::Choice(parts) => self.choice(parts, expr),
            Kind::Quantified(quantifier, list, name, body) => {
                self.quantified(*quantifier, list, name, body, expr)
            }
        }
    }

    fn both(&mut self, left: &Expr, right: &Expr, is_and: bool) -> Option<Typed<'a>> {
        // Both sides are checked, so that all problems are reported at once.
        let (left_typed, right_typed) = (self.condition(left), self.condition_after(left, is_and, right));
        let (left, right) = (left_typed?, right_typed?);
        let parts = vec![left.formula.clone()?, right.formula.clone()?];
        let formula = if is_and { Formula::And(parts) } else { Formula::Or(parts) };
        let nodes = (Box::new(left.node.clone()), Box::new(right.node.clone()));
        let node = if is_and { Node::And(nodes.0, nodes.1) } else { Node::Or(nodes.0, nodes.1) };
        Some(Typed::condition(node, formula, [&left, &right]))
    }

    fn choice(&mut self, parts: &[Expr; 3], expr: &Expr) -> Option<Typed<'a>> {
        let [condition, first, second] = parts;
        let condition_typed = self.condition(condition);
        let known = self.facts.len();
        self.facts.extend(facts(condition, true));
        let first_typed = self.expr(first);
        self.facts.truncate(known);
        self.facts.extend(facts(condition, false));
        let second_typed = self.expr(second);
        self.facts.truncate(known);
        let (condition, first_typed, second_typed) = (condition_typed?, first_typed?, second_typed?);
        let is_same = first_typed.kind.meets(&second_typed.kind)
            && (first_typed.kind.is_number() == second_typed.kind.is_number());
        let is_one_number = matches!(
            (&first_typed.kind, &second_typed.kind),
            (Type::Int, Type::Double) | (Type::Double, Type::Int)
        );
        if !is_same || is_one_number {
            let (first, second) = (&first_typed.kind, &second_typed.kind);
            let message = format!("the values of `{expr}` are {first} and {second}");
            return self.type_error(expr.span, message, "give both the same type");
        }
        let kind = if first_typed.kind.is_any() { second_typed.kind } else { first_typed.kind };
        let formula = match (&condition.formula, first_typed.formula, second_typed.formula) {
            (Some(condition), Some(first), Some(second)) => Some(Formula::Or(vec![
                Formula::And(vec![condition.clone(), first]),
                Formula::And(vec![condition.clone().not(), second]),
            ])),
            _ => None,
        };
        let fallible = condition.fallible || first_typed.fallible || second_typed.fallible;
        let nullable = first_typed.nullable || second_typed.nullable;
        let node = Node::Choice(Box::new([condition.node, first_typed.node, second_typed.node]));
        Some(Typed { formula, fallible, nullable, ..Typed::new(node, kind) })
    }

    fn list(&mut self, items: &[Expr]) -> Option<Typed<'a>> {
        let typed: Vec<Option<Typed<'a>>> = items.iter().map(|item| self.expr(item)).collect();
        let typed: Vec<Typed<'a>> = typed.into_iter().collect::<Option<_>>()?;
        let Some(first) = typed.first() else { return Some(Typed::constant(Const::List(Vec::new()))) };
        let kind = first.kind.clone();
        let odd = items.iter().zip(&typed).find(|(_, item)| {
            !item.kind.meets(&kind) && !matches!(item.kind, Type::Null) && !matches!(kind, Type::Null)
        });
        if let Some((item, other)) = odd {
            let message = format!("the items of a list are {kind} and {}", other.kind);
            return self.type_error(item.span, message, "give all items the same type");
        }
        let constants: Option<Vec<Const>> = typed.iter().map(|item| item.constant.clone()).collect();
        let fallible = typed.iter().any(|item| item.fallible);
        let kind = Type::List(Item::Type(Box::new(kind)));
        Some(match constants {
            Some(constants) => Typed { kind, ..Typed::constant(Const::List(constants)) },
            None => {
                let node = Node::List(typed.into_iter().map(|item| item.node).collect());
                Typed { fallible, ..Typed::new(node, kind) }
            }
        })
    }

    /// Reports a value that may be `null` where that is not allowed.
    fn not_null(&mut self, expr: &Expr, typed: &Typed<'_>) -> Option<()> {
        if !typed.nullable
            || typed.kind.is_any()
            || self.is_part
            || self.knows(|fact, path| fact.is_not_null(path), expr)
        {
            return Some(());
        }
        let message = format!("`{expr}` may be null");
        self.type_error(expr.span, message, format!("write `{expr} != null && …` before it"))
    }

    fn knows(&self, test: impl Fn(&Fact, &str) -> bool, expr: &Expr) -> bool {
        path(expr).is_some_and(|path| self.facts.iter().any(|fact| test(fact, &path)))
    }

    /// Describes the items of a list.
    fn items(&self, item: &Item<'a>) -> (Described<'a>, Option<&'a Shape>) {
        match item {
            Item::Shape(shape) => (describe(shape, self.defs), Some(shape)),
            Item::Type(kind) => {
                let nullable = kind.is_any();
                (Described { kind: (**kind).clone(), nullable, domain: Domain::default() }, None)
            }
        }
    }

    fn effects(&self) -> Const {
        let kinds = EffectKind::ALL.iter().filter(|(_, kind)| kind.is_in(&self.spec.effects));
        Const::List(kinds.map(|(name, _)| Const::Text((*name).to_owned())).collect())
    }

    /// Returns the type of the arguments as a whole.
    fn arguments(&self) -> Type<'a> {
        match arguments(self.spec) {
            Some((rules, true)) => Type::Object(rules),
            _ => Type::Any,
        }
    }
}

/// A statement that is known only by its text.
fn opaque(expr: &Expr) -> Formula {
    Formula::Opaque(text_of(expr).into())
}

/// Returns the text of an expression, with one spelling for members.
fn text_of(expr: &Expr) -> String {
    path(expr).unwrap_or_else(|| expr.to_string())
}

/// Returns the term of an expression.
fn term(expr: &Expr, typed: &Typed<'_>) -> Arc<Term> {
    Arc::new(Term { text: text_of(expr), domain: typed.domain.clone() })
}

/// Returns whether a constant can be in a set of values.
fn scalar(typed: &Typed<'_>) -> Option<Const> {
    typed.constant.clone().filter(is_scalar)
}
