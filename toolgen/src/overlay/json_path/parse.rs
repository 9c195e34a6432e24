//! Parses queries.

use std::fmt;

use serde_json::Value;

use super::filter::{Comparison, Operand, Query, Test};
use super::{Segment, Selector};

/// Maximum nesting depth of filters.
const MAX_NESTING: usize = 32;

/// The reason why a string is not a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::overlay) struct PathError {
    /// The number of characters before the error.
    position: usize,
    message: &'static str,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.message, self.position + 1)
    }
}

/// Parses a complete query.
pub(super) fn path(text: &str) -> Result<Vec<Segment>, PathError> {
    let mut parser = Parser { chars: text.trim().chars().collect(), position: 0, nesting: 0 };
    if !parser.eat("$") {
        return parser.error("a query must start with `$`, the whole document");
    }
    let segments = parser.segments()?;
    if parser.position < parser.chars.len() {
        return parser.error("expected `.`, `..` or `[`");
    }
    Ok(segments)
}

struct Parser {
    chars: Vec<char>,
    position: usize,
    nesting: usize,
}

type Parsed<T> = Result<T, PathError>;

impl Parser {
    fn error<T>(&self, message: &'static str) -> Parsed<T> {
        Err(PathError { position: self.position, message })
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.position).copied()
    }

    fn skip_whitespace(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | '\r')) {
            self.position += 1;
        }
    }

    /// Skips a string and returns `true` if the string is next.
    fn eat(&mut self, text: &str) -> bool {
        let end = self.position + text.chars().count();
        let is_next =
            self.chars.get(self.position..end).is_some_and(|next| next.iter().copied().eq(text.chars()));
        if is_next {
            self.position = end;
        }
        is_next
    }

    fn segments(&mut self) -> Parsed<Vec<Segment>> {
        let mut segments = Vec::new();
        loop {
            let start = self.position;
            self.skip_whitespace();
            let (descends, dotted) = match (self.eat(".."), self.peek()) {
                (true, Some('[')) => (true, false),
                (true, _) => (true, true),
                (false, Some('.')) => {
                    self.position += 1;
                    (false, true)
                }
                (false, Some('[')) => (false, false),
                _ => {
                    self.position = start;
                    return Ok(segments);
                }
            };
            let selectors = if dotted { vec![self.dotted()?] } else { self.bracketed()? };
            segments.push(Segment { descends, selectors });
        }
    }

    fn dotted(&mut self) -> Parsed<Selector> {
        if self.eat("*") {
            return Ok(Selector::Wildcard);
        }
        let is_name = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-') || !c.is_ascii();
        let name: String = self.chars.iter().skip(self.position).take_while(|c| is_name(c)).collect();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return self.error("expected a name or `*`; other names are written as `['name']`");
        }
        self.position += name.chars().count();
        Ok(Selector::Name(name))
    }

    fn bracketed(&mut self) -> Parsed<Vec<Selector>> {
        self.position += 1;
        let mut selectors = Vec::new();
        loop {
            self.skip_whitespace();
            selectors.push(self.selector()?);
            self.skip_whitespace();
            if self.eat("]") {
                return Ok(selectors);
            }
            if !self.eat(",") {
                return self.error("expected `]` or `,`");
            }
        }
    }

    fn selector(&mut self) -> Parsed<Selector> {
        match self.peek() {
            Some('*') => {
                self.position += 1;
                Ok(Selector::Wildcard)
            }
            Some('\'' | '"') => Ok(Selector::Name(self.quoted()?)),
            Some('?') => {
                self.position += 1;
                Ok(Selector::Filter(self.any_of()?))
            }
            Some(c) if c == ':' || c == '-' || c.is_ascii_digit() => self.index_or_slice(),
            _ => self.error("expected a quoted name, an index, a slice, `*` or a filter `?…`"),
        }
    }

    fn index_or_slice(&mut self) -> Parsed<Selector> {
        let start = self.integer()?;
        self.skip_whitespace();
        if !self.eat(":") {
            return start.map_or_else(|| self.error("expected an index"), |index| Ok(Selector::Index(index)));
        }
        self.skip_whitespace();
        let end = self.integer()?;
        self.skip_whitespace();
        let mut step = None;
        if self.eat(":") {
            self.skip_whitespace();
            step = self.integer()?;
        }
        Ok(Selector::Slice { start, end, step: step.unwrap_or(1) })
    }

    fn integer(&mut self) -> Parsed<Option<i64>> {
        let is_part = |(index, c): &(usize, &char)| c.is_ascii_digit() || (*index == 0 && **c == '-');
        let text: String =
            self.chars.iter().skip(self.position).enumerate().take_while(is_part).map(|(_, c)| c).collect();
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse() {
            Ok(number) => {
                self.position += text.len();
                Ok(Some(number))
            }
            Err(_) => self.error("expected an integer"),
        }
    }

    fn quoted(&mut self) -> Parsed<String> {
        let Some(quote) = self.peek() else { return self.error("expected a string") };
        self.position += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else { return self.error("the string is not closed") };
            self.position += 1;
            match c {
                c if c == quote => return Ok(text),
                '\\' => text.push(self.escaped(quote)?),
                c => text.push(c),
            }
        }
    }

    fn escaped(&mut self, quote: char) -> Parsed<char> {
        let c = self.peek();
        self.position += 1;
        Ok(match c {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('/') => '/',
            Some('\\') => '\\',
            Some('u') => {
                let high = self.unit()?;
                let low = if (0xd800..0xdc00).contains(&high) && self.eat("\\u") { self.unit()? } else { 0 };
                let units = if low == 0 { vec![high] } else { vec![high, low] };
                match char::decode_utf16(units).next() {
                    Some(Ok(c)) => c,
                    _ => return self.error("half of a surrogate pair"),
                }
            }
            Some(c) if c == quote => c,
            _ => return self.error("no such escape"),
        })
    }

    fn unit(&mut self) -> Parsed<u16> {
        let digits: String = self.chars.iter().skip(self.position).take(4).collect();
        match u16::from_str_radix(&digits, 16) {
            Ok(unit) if digits.len() == 4 && !digits.starts_with('+') => {
                self.position += 4;
                Ok(unit)
            }
            _ => self.error("expected four hexadecimal digits"),
        }
    }

    fn any_of(&mut self) -> Parsed<Test> {
        self.parse_joined("||", Parser::all_of, Test::Any)
    }

    fn all_of(&mut self) -> Parsed<Test> {
        self.parse_joined("&&", Parser::test, Test::All)
    }

    fn parse_joined(
        &mut self,
        sign: &str,
        part: fn(&mut Parser) -> Parsed<Test>,
        join: fn(Vec<Test>) -> Test,
    ) -> Parsed<Test> {
        let first = part(self)?;
        let mut tests = vec![first];
        self.skip_whitespace();
        while self.eat(sign) {
            tests.push(part(self)?);
            self.skip_whitespace();
        }
        Ok(if let [_] = tests.as_slice() { tests.remove(0) } else { join(tests) })
    }

    fn test(&mut self) -> Parsed<Test> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.error("the filter is nested too deep");
        }
        self.skip_whitespace();
        let test = self.basic_test();
        self.nesting -= 1;
        test
    }

    fn basic_test(&mut self) -> Parsed<Test> {
        if self.peek() == Some('!') {
            self.position += 1;
            return Ok(Test::Not(Box::new(self.test()?)));
        }
        if self.eat("(") {
            let test = self.any_of()?;
            self.skip_whitespace();
            return if self.eat(")") { Ok(test) } else { self.error("expected `)`") };
        }
        for (name, is_full) in [("match(", true), ("search(", false)] {
            if self.eat(name) {
                let text = self.operand()?;
                self.skip_whitespace();
                if !self.eat(",") {
                    return self.error("expected `,` and a regular expression");
                }
                let pattern = self.operand()?;
                self.closing_parenthesis()?;
                return Ok(Test::Matches { text, pattern, is_full });
            }
        }
        let left = self.operand()?;
        self.skip_whitespace();
        let signs = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        match signs.into_iter().find(|(sign, _)| self.eat(sign)) {
            Some((_, comparison)) => Ok(Test::Compare(left, comparison, self.operand()?)),
            None => match left {
                Operand::Query(query) => Ok(Test::Exists(query)),
                _ => self.error("expected a comparison such as `==`"),
            },
        }
    }

    fn closing_parenthesis(&mut self) -> Parsed<()> {
        self.skip_whitespace();
        if self.eat(")") { Ok(()) } else { self.error("expected `)`") }
    }

    fn operand(&mut self) -> Parsed<Operand> {
        self.skip_whitespace();
        if self.eat("length(") {
            self.nesting += 1;
            if self.nesting > MAX_NESTING {
                return self.error("the filter is nested too deep");
            }
            let operand = self.operand()?;
            self.nesting -= 1;
            self.closing_parenthesis()?;
            return Ok(Operand::Length(Box::new(operand)));
        }
        for name in ["count(", "value("] {
            if self.eat(name) {
                self.skip_whitespace();
                let query = self.query()?;
                self.closing_parenthesis()?;
                return Ok(if name == "count(" { Operand::Count(query) } else { Operand::Query(query) });
            }
        }
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.eat(word) {
                return Ok(Operand::Literal(value));
            }
        }
        match self.peek() {
            Some('@' | '$') => Ok(Operand::Query(self.query()?)),
            Some('\'' | '"') => Ok(Operand::Literal(Value::String(self.quoted()?))),
            Some(c) if c == '-' || c.is_ascii_digit() => self.number(),
            _ => self.error("expected `@`, `$`, a string in quotes, a number, `true`, `false` or `null`"),
        }
    }

    fn query(&mut self) -> Parsed<Query> {
        let absolute = self.eat("$");
        if !absolute && !self.eat("@") {
            return self.error("expected a query, which starts with `@` or `$`");
        }
        Ok(Query { absolute, segments: self.segments()? })
    }

    fn number(&mut self) -> Parsed<Operand> {
        let is_part = |c: &&char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let text: String = self.chars.iter().skip(self.position).take_while(is_part).collect();
        match serde_json::from_str(&text) {
            Ok(number @ Value::Number(_)) => {
                self.position += text.len();
                Ok(Operand::Literal(number))
            }
            _ => self.error("expected a number"),
        }
    }
}
