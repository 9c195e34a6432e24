//! The syntax of conditions: the part of CEL, the Common Expression Language, that rules use.

use std::fmt;

use crate::problem::{Problem, Span};
use crate::token::{Token, TokenKind, tokens};

/// Maximum length of a condition, in bytes.
const MAX_BYTES: usize = 4096;
/// Maximum depth of a condition.
const MAX_DEPTH: usize = 100;

/// An expression with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    List(Vec<Expr>),
    Name(String),
    Member(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    /// A function or, with a receiver, a method.
    Call(Option<Box<Expr>>, String, Vec<Expr>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    Choice(Box<[Expr; 3]>),
    /// `list.all(name, condition)` and `list.exists(name, condition)`.
    Quantified(Quantifier, Box<Expr>, String, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    All,
    Exists,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Op {
    const ALL: [(&'static str, Op, u8); 14] = [
        ("||", Op::Or, 1),
        ("&&", Op::And, 2),
        ("==", Op::Equal, 3),
        ("!=", Op::NotEqual, 3),
        ("<", Op::Less, 3),
        ("<=", Op::LessOrEqual, 3),
        (">", Op::Greater, 3),
        (">=", Op::GreaterOrEqual, 3),
        ("in", Op::In, 3),
        ("+", Op::Add, 4),
        ("-", Op::Subtract, 4),
        ("*", Op::Multiply, 5),
        ("/", Op::Divide, 5),
        ("%", Op::Remainder, 5),
    ];

    fn entry(self) -> (&'static str, u8) {
        let entry = Op::ALL.iter().find(|(_, op, _)| *op == self);
        entry.map_or(("", 0), |(sign, _, precedence)| (sign, *precedence))
    }

    pub(crate) fn sign(self) -> &'static str {
        self.entry().0
    }
}

/// The words that CEL reserves.
const RESERVED: [&str; 19] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
    "in",
    "not",
];

/// Parses a condition.
pub(crate) fn parse(text: &str) -> Result<Expr, Problem> {
    let whole = Span { start: 0, end: text.len() };
    if text.len() > MAX_BYTES {
        let message = format!("the condition has {} bytes; the maximum is {MAX_BYTES}", text.len());
        return Err(Problem::syntax(whole, message, "split it into several rules"));
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let expr = parser.choice()?;
    match parser.peek().kind {
        TokenKind::End => Ok(expr),
        _ => Err(parser.unexpected("an operator, or the end of the condition")),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        // The last token is the end, and is never consumed.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.peek().kind == TokenKind::Sign(match_sign(sign))
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<Span, Problem> {
        if self.is_sign(sign) { Ok(self.next().span) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, expected: &str) -> Problem {
        let token = self.peek();
        let found = match &token.kind {
            TokenKind::End => "the end of the condition".to_owned(),
            TokenKind::Sign(sign) => format!("`{sign}`"),
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Int(_) | TokenKind::Double(_) => "a number".to_owned(),
            TokenKind::Text(_) => "a string".to_owned(),
        };
        let help = match &token.kind {
            TokenKind::Name(name) if name == "and" => "write `&&`".to_owned(),
            TokenKind::Name(name) if name == "or" => "write `||`".to_owned(),
            TokenKind::Name(name) if name == "not" => "write `!`".to_owned(),
            _ => format!("write {expected} here"),
        };
        Problem::syntax(token.span, format!("expected {expected}, found {found}"), help)
    }

    /// Goes one level deeper.
    fn descend(&mut self) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("the condition is nested more than {MAX_DEPTH} levels deep");
        let help = "split it into several rules, or compare with a list: `x in [1, 2, 3]`";
        Err(Problem::syntax(self.peek().span, message, help))
    }

    /// Runs a parser one level deeper.
    fn deeper(&mut self, parse: impl FnOnce(&mut Parser) -> Result<Expr, Problem>) -> Result<Expr, Problem> {
        self.descend()?;
        let expr = parse(self);
        self.depth -= 1;
        expr
    }

    fn choice(&mut self) -> Result<Expr, Problem> {
        self.deeper(|parser| {
            let condition = parser.binary(1)?;
            if !parser.take("?") {
                return Ok(condition);
            }
            let first = parser.binary(1)?;
            parser.expect(":")?;
            let second = parser.choice()?;
            let span = condition.span.to(second.span);
            Ok(Expr { kind: Kind::Choice(Box::new([condition, first, second])), span })
        })
    }

    fn binary(&mut self, least: u8) -> Result<Expr, Problem> {
        let mut left = self.unary()?;
        let mut length = 0;
        loop {
            let op = Op::ALL.iter().find(|(sign, ..)| match &self.peek().kind {
                TokenKind::Sign(other) => other == sign,
                TokenKind::Name(name) => name == sign,
                _ => false,
            });
            let Some((_, op, precedence)) = op.copied().filter(|(.., precedence)| *precedence >= least)
            else {
                return Ok(left);
            };
            self.at += 1;
            length += 1;
            // A chain is as deep as it is long.
            self.depth += length;
            let right = self.deeper(|parser| parser.binary(precedence + 1));
            self.depth -= length;
            let right = right?;
            let span = left.span.to(right.span);
            left = Expr { kind: Kind::Binary(op, Box::new(left), Box::new(right)), span };
        }
    }

    fn unary(&mut self) -> Result<Expr, Problem> {
        let start = self.peek().span;
        if self.take("!") {
            let inner = self.deeper(Parser::unary)?;
            let span = start.to(inner.span);
            return Ok(Expr { kind: Kind::Not(Box::new(inner)), span });
        }
        if self.take("-") {
            if let TokenKind::Int(number) = self.peek().kind
                && number == i64::MIN.unsigned_abs()
            {
                let span = start.to(self.next().span);
                return self.suffixes(Expr { kind: Kind::Int(i64::MIN), span });
            }
            let inner = self.deeper(Parser::unary)?;
            let span = start.to(inner.span);
            let kind = match inner.kind {
                Kind::Int(number) if number != i64::MIN => Kind::Int(-number),
                Kind::Double(number) => Kind::Double(-number),
                kind => Kind::Negative(Box::new(Expr { kind, span: inner.span })),
            };
            return Ok(Expr { kind, span });
        }
        let primary = self.primary()?;
        self.suffixes(primary)
    }

    fn suffixes(&mut self, mut expr: Expr) -> Result<Expr, Problem> {
        let depth = self.depth;
        loop {
            self.descend()?;
            if self.take(".") {
                let token = self.next();
                let TokenKind::Name(name) = token.kind else {
                    self.at -= 1;
                    return Err(self.unexpected("a name"));
                };
                if !self.is_sign("(") {
                    let span = expr.span.to(token.span);
                    expr = Expr { kind: Kind::Member(Box::new(expr), name), span };
                    continue;
                }
                expr = self.method(expr, name)?;
            } else if self.take("[") {
                let index = self.choice()?;
                let span = expr.span.to(self.expect("]")?);
                expr = Expr { kind: Kind::Index(Box::new(expr), Box::new(index)), span };
            } else {
                self.depth = depth;
                return Ok(expr);
            }
        }
    }

    fn method(&mut self, receiver: Expr, name: String) -> Result<Expr, Problem> {
        let quantifier = match name.as_str() {
            "all" => Some(Quantifier::All),
            "exists" => Some(Quantifier::Exists),
            _ => None,
        };
        let (mut arguments, end) = self.arguments()?;
        let span = receiver.span.to(end);
        let Some(quantifier) = quantifier else {
            return Ok(Expr { kind: Kind::Call(Some(Box::new(receiver)), name, arguments), span });
        };
        let help = format!("write `list.{name}(item, condition)`");
        match (arguments.pop(), arguments.pop(), arguments.is_empty()) {
            (Some(body), Some(Expr { kind: Kind::Name(variable), .. }), true) => Ok(Expr {
                kind: Kind::Quantified(quantifier, Box::new(receiver), variable, Box::new(body)),
                span,
            }),
            _ => Err(Problem::syntax(span, format!("`{name}` takes a name and a condition"), help)),
        }
    }

    fn arguments(&mut self) -> Result<(Vec<Expr>, Span), Problem> {
        self.expect("(")?;
        self.list(")")
    }

    fn list(&mut self, end: &str) -> Result<(Vec<Expr>, Span), Problem> {
        let mut items = Vec::new();
        while !self.is_sign(end) {
            items.push(self.choice()?);
            if !self.take(",") {
                break;
            }
        }
        if !self.is_sign(end) {
            return Err(self.unexpected(&format!("`,` or `{end}`")));
        }
        Ok((items, self.next().span))
    }

    fn primary(&mut self) -> Result<Expr, Problem> {
        let token = self.next();
        let span = token.span;
        let kind = match token.kind {
            TokenKind::Int(number) => match i64::try_from(number) {
                Ok(number) => Kind::Int(number),
                Err(_) => {
                    let message = format!("the number `{number}` is too large");
                    return Err(Problem::syntax(span, message, "write it as a double: `1e19`"));
                }
            },
            TokenKind::Double(number) => Kind::Double(number),
            TokenKind::Text(text) => Kind::Text(text),
            TokenKind::Name(name) => match name.as_str() {
                "null" => Kind::Null,
                "true" => Kind::Bool(true),
                "false" => Kind::Bool(false),
                word if RESERVED.contains(&word) => {
                    self.at -= 1;
                    return Err(self.unexpected("a value"));
                }
                _ if self.is_sign("(") => {
                    let (arguments, end) = self.arguments()?;
                    return Ok(Expr { kind: Kind::Call(None, name, arguments), span: span.to(end) });
                }
                _ => Kind::Name(name),
            },
            TokenKind::Sign("(") => {
                let inner = self.choice()?;
                let end = self.expect(")")?;
                return Ok(Expr { span: span.to(end), ..inner });
            }
            TokenKind::Sign("[") => {
                let (items, end) = self.list("]")?;
                return Ok(Expr { kind: Kind::List(items), span: span.to(end) });
            }
            TokenKind::Sign("{") => {
                return Err(Problem::syntax(
                    span,
                    "maps are not supported",
                    "compare the members of an object one by one",
                ));
            }
            TokenKind::Sign(_) | TokenKind::End => {
                self.at -= 1;
                return Err(self.unexpected("a value"));
            }
        };
        Ok(Expr { kind, span })
    }
}

/// Returns the static form of a sign.
fn match_sign(sign: &str) -> &'static str {
    const SIGNS: [&str; 9] = ["(", ")", "[", "]", ".", ",", "?", ":", "!"];
    SIGNS.iter().find(|other| **other == sign).copied().unwrap_or("-")
}

impl Span {
    pub(crate) fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end }
    }
}

impl Expr {
    /// Adds the names of the arguments in the expression.
    pub(crate) fn collect_arguments(&self, names: &mut Vec<String>) {
        let is_arguments = |expr: &Expr| matches!(&expr.kind, Kind::Name(name) if name == "args");
        let found = match &self.kind {
            Kind::Member(inner, name) if is_arguments(inner) => Some(name),
            Kind::Index(inner, index) if is_arguments(inner) => index.as_text(),
            Kind::Binary(Op::In, name, inner) if is_arguments(inner) => name.as_text(),
            _ => None,
        };
        names.extend(found.cloned());
        self.parts().into_iter().for_each(|part| part.collect_arguments(names));
    }

    fn as_text(&self) -> Option<&String> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::List(items) => items.iter().collect(),
            Kind::Member(inner, _) | Kind::Not(inner) | Kind::Negative(inner) => vec![&**inner],
            Kind::Index(left, right) | Kind::Binary(_, left, right) | Kind::Quantified(_, left, _, right) => {
                vec![&**left, &**right]
            }
            Kind::Call(receiver, _, arguments) => receiver.as_deref().into_iter().chain(arguments).collect(),
            Kind::Choice(parts) => parts.iter().collect(),
            Kind::Null | Kind::Bool(_) | Kind::Int(_) | Kind::Double(_) | Kind::Text(_) | Kind::Name(_) => {
                Vec::new()
            }
        }
    }

    fn precedence(&self) -> u8 {
        match &self.kind {
            Kind::Choice(_) => 0,
            Kind::Binary(op, ..) => op.entry().1,
            Kind::Not(_) | Kind::Negative(_) => 6,
            Kind::Int(number) if *number < 0 => 6,
            Kind::Double(number) if *number < 0.0 => 6,
            _ => 7,
        }
    }

    fn write(&self, least: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.precedence() < least { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

fn write_list(items: &[Expr], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if index == 0 { "" } else { ", " })?;
    }
    Ok(())
}

/// Writes a string as a literal.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes the expression in one form, whatever its spaces and parentheses were.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Null => f.write_str("null"),
            Kind::Bool(value) => write!(f, "{value}"),
            Kind::Int(value) => write!(f, "{value}"),
            Kind::Double(value) => write!(f, "{value:?}"),
            Kind::Text(text) => f.write_str(&quote(text)),
            Kind::Name(name) => f.write_str(name),
            Kind::List(items) => {
                f.write_str("[")?;
                write_list(items, f)?;
                f.write_str("]")
            }
            Kind::Member(inner, name) => {
                inner.write(7, f)?;
                write!(f, ".{name}")
            }
            Kind::Index(inner, index) => {
                inner.write(7, f)?;
                write!(f, "[{index}]")
            }
            Kind::Call(receiver, name, arguments) => {
                if let Some(receiver) = receiver {
                    receiver.write(7, f)?;
                    f.write_str(".")?;
                }
                write!(f, "{name}(")?;
                write_list(arguments, f)?;
                f.write_str(")")
            }
            Kind::Not(inner) => {
                f.write_str("!")?;
                inner.write(6, f)
            }
            Kind::Negative(inner) => {
                f.write_str("-")?;
                inner.write(7, f)
            }
            Kind::Binary(op, left, right) => {
                let (sign, precedence) = op.entry();
                left.write(precedence, f)?;
                write!(f, " {sign} ")?;
                right.write(precedence + 1, f)
            }
            Kind::Choice(parts) => {
                let [condition, first, second] = &**parts;
                condition.write(1, f)?;
                f.write_str(" ? ")?;
                first.write(1, f)?;
                write!(f, " : {second}")
            }
            Kind::Quantified(quantifier, list, name, body) => {
                list.write(7, f)?;
                let word = if *quantifier == Quantifier::All { "all" } else { "exists" };
                write!(f, ".{word}({name}, {body})")
            }
        }
    }
}
