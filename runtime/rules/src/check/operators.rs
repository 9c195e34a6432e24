//! Comparisons and arithmetic.

use super::{Checker, Typed, opaque, scalar, term, text_of};
use crate::logic::{Formula, Set, exact};
use crate::node::Node;
use crate::syntax::{Expr, Kind, Op};
use crate::types::{Bound, Type};
use crate::value::Const;

/// A side of an operator.
type Side<'e, 'a> = (&'e Expr, Typed<'a>);

impl<'a> Checker<'a> {
    pub(super) fn operator(
        &mut self,
        op: Op,
        left: Side<'_, 'a>,
        right: Side<'_, 'a>,
        expr: &Expr,
    ) -> Option<Typed<'a>> {
        match op {
            Op::Equal | Op::NotEqual => self.equality(op, left, right, expr),
            Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual => {
                self.order(op, left, right, expr)
            }
            Op::In => self.contained(left, right, expr),
            _ => self.arithmetic(op, left, right, expr),
        }
    }

    fn mismatch<T>(
        &mut self,
        (left, right): (&Expr, &Expr),
        types: [&Type<'_>; 2],
        expr: &Expr,
    ) -> Option<T> {
        let [left_type, right_type] = types;
        let message = format!("`{left}` is {left_type}, and `{right}` {right_type}");
        let quoted = |number: &Expr| {
            format!("compare values of one type: write `{}`", number.to_string().trim_matches('"'))
        };
        let help = match (&left.kind, &right.kind) {
            (Kind::Text(text), _) if right_type.is_number() && text.parse::<f64>().is_ok() => quoted(left),
            (_, Kind::Text(text)) if left_type.is_number() && text.parse::<f64>().is_ok() => quoted(right),
            _ => "compare values of one type".to_owned(),
        };
        self.type_error(expr.span, message, help)
    }

    fn equality(
        &mut self,
        op: Op,
        (left, left_typed): Side<'_, 'a>,
        (right, right_typed): Side<'_, 'a>,
        expr: &Expr,
    ) -> Option<Typed<'a>> {
        for (null, value, other) in [(&left_typed, right, &right_typed), (&right_typed, left, &left_typed)] {
            let is_null = matches!(null.kind, Type::Null);
            if is_null && !other.nullable && !matches!(other.kind, Type::Null | Type::Any) {
                let message = format!("`{value}` is never null");
                return self.type_error(
                    expr.span,
                    message,
                    "`has(args.name)` asks whether an argument is given",
                );
            }
        }
        let has_null = matches!(left_typed.kind, Type::Null) || matches!(right_typed.kind, Type::Null);
        if !has_null && !left_typed.kind.meets(&right_typed.kind) {
            return self.mismatch((left, right), [&left_typed.kind, &right_typed.kind], expr);
        }
        let formula = match (scalar(&left_typed), scalar(&right_typed)) {
            (None, Some(constant)) => equal_to((left, &left_typed), constant),
            (Some(constant), None) => equal_to((right, &right_typed), constant),
            _ => symmetric("==", left, right),
        };
        let node = Node::Equal(Box::new(left_typed.node.clone()), Box::new(right_typed.node.clone()));
        if op == Op::Equal {
            return Some(Typed::condition(node, formula, [&left_typed, &right_typed]));
        }
        let node = Node::Not(Box::new(node));
        Some(Typed::condition(node, formula.not(), [&left_typed, &right_typed]))
    }

    fn order(
        &mut self,
        op: Op,
        (left, left_typed): Side<'_, 'a>,
        (right, right_typed): Side<'_, 'a>,
        expr: &Expr,
    ) -> Option<Typed<'a>> {
        let (left_null, right_null) = (self.not_null(left, &left_typed), self.not_null(right, &right_typed));
        left_null.and(right_null)?;
        let has_order = |kind: &Type<'_>| kind.is_number() || matches!(kind, Type::Text | Type::Any);
        for (side, typed) in [(left, &left_typed), (right, &right_typed)] {
            if !has_order(&typed.kind) {
                let message = format!("`{side}` is {}, which has no order", typed.kind);
                return self.type_error(expr.span, message, "compare numbers or strings, or use `==`");
            }
        }
        if !left_typed.kind.meets(&right_typed.kind) {
            return self.mismatch((left, right), [&left_typed.kind, &right_typed.kind], expr);
        }
        let fallible = left_typed.kind.is_any() || right_typed.kind.is_any();
        let number = |typed: &Typed<'_>| typed.constant.as_ref().and_then(exact);
        let formula = match (number(&left_typed), number(&right_typed)) {
            (None, Some(at)) => bounded(op, (left, &left_typed), at),
            (Some(at), None) => bounded(reverse(op), (right, &right_typed), at),
            _ => match op {
                Op::Less => less(left, right),
                Op::Greater => less(right, left),
                Op::LessOrEqual => less(right, left).not(),
                _ => less(left, right).not(),
            },
        };
        let node = Node::Order(op, Box::new(left_typed.node.clone()), Box::new(right_typed.node.clone()));
        let mut typed = Typed::condition(node, formula, [&left_typed, &right_typed]);
        typed.fallible |= fallible;
        Some(typed)
    }

    fn contained(
        &mut self,
        (left, left_typed): Side<'_, 'a>,
        (right, right_typed): Side<'_, 'a>,
        expr: &Expr,
    ) -> Option<Typed<'a>> {
        self.not_null(right, &right_typed)?;
        match &right_typed.kind {
            Type::Object(_) => {
                return match &left.kind {
                    Kind::Text(name) => self.has(right, name, expr),
                    _ => self.type_error(
                        left.span,
                        format!("`{left}` is not a name in quotes"),
                        "write `\"name\" in args`",
                    ),
                };
            }
            Type::List(item) => {
                let (described, _) = self.items(item);
                let is_empty = matches!(&right_typed.constant, Some(Const::List(items)) if items.is_empty());
                let has_null = matches!(left_typed.kind, Type::Null) || matches!(described.kind, Type::Null);
                if !is_empty && !has_null && !left_typed.kind.meets(&described.kind) {
                    let message = format!(
                        "`{left}` is {}, and the items of `{right}` are {}",
                        left_typed.kind, described.kind
                    );
                    return self.type_error(expr.span, message, "compare values of one type");
                }
            }
            Type::Any => {}
            other => {
                let message = format!("`{right}` is {other}, and contains no items");
                let help = match (&left_typed.kind, other) {
                    (Type::Text, Type::Text) => format!("write `{right}.contains({left})`"),
                    _ => "write a list after `in`: `x in [1, 2]`".to_owned(),
                };
                return self.type_error(right.span, message, help);
            }
        }
        let formula = match &right_typed.constant {
            Some(Const::List(items)) if items.is_empty() => Formula::Const(false),
            Some(Const::List(items))
                if items.iter().all(crate::logic::is_scalar) && left_typed.constant.is_none() =>
            {
                Formula::In(term(left, &left_typed), Set::OneOf(items.clone()))
            }
            // `"pay" in principal.scopes` is `principal.has("pay")`.
            _ if matches!(right_typed.node, Node::Scopes) => {
                Formula::Opaque(format!("principal.has({})", text_of(left)).into())
            }
            _ => opaque(expr),
        };
        let node = Node::In(Box::new(left_typed.node.clone()), Box::new(right_typed.node.clone()));
        let mut typed = Typed::condition(node, formula, [&left_typed, &right_typed]);
        typed.fallible |= right_typed.kind.is_any();
        Some(typed)
    }

    fn arithmetic(
        &mut self,
        op: Op,
        (left, left_typed): Side<'_, 'a>,
        (right, right_typed): Side<'_, 'a>,
        expr: &Expr,
    ) -> Option<Typed<'a>> {
        let (left_null, right_null) = (self.not_null(left, &left_typed), self.not_null(right, &right_typed));
        left_null.and(right_null)?;
        let nodes = (Box::new(left_typed.node.clone()), Box::new(right_typed.node.clone()));
        let (kind, node, fallible) = match (&left_typed.kind, &right_typed.kind, op) {
            (Type::Int, Type::Int, _) => (Type::Int, Node::Integers(op, nodes.0, nodes.1), true),
            (Type::Double, Type::Double, Op::Add | Op::Subtract | Op::Multiply | Op::Divide) => {
                // The result may be no number, which has no order.
                (Type::Double, Node::Doubles(op, nodes.0, nodes.1), true)
            }
            (Type::Text, Type::Text, Op::Add) => (Type::Text, Node::Join(nodes.0, nodes.1), false),
            (left_type, right_type, _) => {
                let message = format!(
                    "`{left}` is {left_type}, and `{right}` {right_type}: `{}` does not apply",
                    op.sign()
                );
                let help = match (&left.kind, &right.kind) {
                    (_, Kind::Int(number)) if matches!(left_type, Type::Double) && op != Op::Remainder => {
                        format!("write `{number}.0`")
                    }
                    (Kind::Int(number), _) if matches!(right_type, Type::Double) && op != Op::Remainder => {
                        format!("write `{number}.0`")
                    }
                    _ => "use two integers, two numbers with a fraction, or `+` with two strings".to_owned(),
                };
                return self.type_error(expr.span, message, help);
            }
        };
        let fallible = fallible || left_typed.fallible || right_typed.fallible;
        Some(Typed { fallible, ..Typed::new(node, kind) })
    }

    pub(super) fn negative(&mut self, inner: &Expr, expr: &Expr) -> Option<Typed<'a>> {
        let typed = self.expr(inner)?;
        self.not_null(inner, &typed)?;
        match typed.kind {
            // The smallest integer has no opposite.
            Type::Int => Some(Typed {
                fallible: true,
                ..Typed::new(Node::NegativeInt(Box::new(typed.node)), Type::Int)
            }),
            Type::Double => {
                let node = Node::NegativeDouble(Box::new(typed.node));
                Some(Typed { fallible: typed.fallible, ..Typed::new(node, Type::Double) })
            }
            other => self.type_error(
                expr.span,
                format!("`{inner}` is {other}: `-` does not apply"),
                "use a number",
            ),
        }
    }
}

/// The statement that a term equals a constant.
fn equal_to((expr, typed): (&Expr, &Typed<'_>), constant: Const) -> Formula {
    match (&constant, &typed.formula) {
        (Const::Bool(true), Some(formula)) => formula.clone(),
        (Const::Bool(false), Some(formula)) => formula.clone().not(),
        (Const::Bool(value), None) if matches!(typed.kind, Type::Bool) && !typed.nullable => {
            if *value {
                opaque(expr)
            } else {
                opaque(expr).not()
            }
        }
        _ => Formula::In(term(expr, typed), Set::OneOf(vec![constant])),
    }
}

/// The statement that a term is beyond a number.
fn bounded(op: Op, (expr, typed): (&Expr, &Typed<'_>), at: f64) -> Formula {
    let bound = |is_excluded| Bound { at, is_excluded };
    let set = match op {
        Op::Less => Set::Below(bound(true)),
        Op::LessOrEqual => Set::Below(bound(false)),
        Op::Greater => Set::Above(bound(true)),
        _ => Set::Above(bound(false)),
    };
    Formula::In(term(expr, typed), set)
}

fn reverse(op: Op) -> Op {
    match op {
        Op::Less => Op::Greater,
        Op::LessOrEqual => Op::GreaterOrEqual,
        Op::Greater => Op::Less,
        _ => Op::LessOrEqual,
    }
}

fn less(left: &Expr, right: &Expr) -> Formula {
    Formula::Opaque(format!("{} < {}", text_of(left), text_of(right)).into())
}

fn symmetric(sign: &str, left: &Expr, right: &Expr) -> Formula {
    let mut sides = [text_of(left), text_of(right)];
    sides.sort();
    Formula::Opaque(format!("{} {sign} {}", sides[0], sides[1]).into())
}
