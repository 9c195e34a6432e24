//! Parses a JSON text into a value.

use std::borrow::Cow;

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::super::{Finding, MAX_DEPTH, MAX_FINDINGS, ParseResult, TextPosition, number, quote};
use super::lex::{Lexer, SyntaxError};
use crate::problem::codes;
use crate::source::{Pointer, Written};

/// Parses a text. Returns no value if it is not JSON; text after the value is only a finding.
pub(in crate::source) fn read(text: &str) -> ParseResult {
    let mut reader = Reader {
        lexer: Lexer::new(text),
        path: Vec::new(),
        members: Vec::new(),
        written: Written::default(),
        findings: Vec::new(),
    };
    let value = match reader.value() {
        Ok(value) => Some(value),
        Err(Stop::SyntaxError(error)) => {
            // The reason for rejecting the document must not be lost among lesser findings.
            reader.findings.truncate(MAX_FINDINGS - 1);
            let help = "correct the document here";
            reader.add_finding(codes::MALFORMED_TEXT, error.offset, error.message, help);
            None
        }
        Err(Stop::TooDeep) => {
            let message = format!("the document is nested deeper than {MAX_DEPTH} levels");
            reader.path.clear();
            reader.findings.truncate(MAX_FINDINGS - 1);
            reader.add_finding(
                codes::TOO_DEEP,
                reader.lexer.offset,
                message,
                "name parts of it and refer to them",
            );
            None
        }
    };
    if value.is_some() && reader.lexer.peek().is_some() {
        let message = String::from("text after the end of the document is ignored");
        reader.add_finding(codes::TRAILING_TEXT, reader.lexer.offset, message, "remove it");
    }
    let oddities = std::mem::take(&mut reader.lexer.oddities);
    // For an invalid text, only the position of the error is of interest.
    for (offset, message) in oddities.into_iter().filter(|_| value.is_some()) {
        reader.add_finding(codes::ODD_STRING, offset, String::from(message), "write it as an escape");
    }
    (value.map(|value| (value, reader.written)), reader.findings)
}

struct Reader<'t> {
    lexer: Lexer<'t>,
    /// The path to the parser's position, for findings and source texts.
    path: Vec<Step>,
    /// The members of objects whose end is not reached, with the offsets of their keys: a map with the right capacity
    /// is a third smaller than one that grew.
    members: Vec<(usize, String, Value)>,
    /// The source text of numbers that print differently.
    written: Written,
    findings: Vec<Finding>,
}

/// One step of the path. Keys are recorded by their offsets, which costs nothing.
#[derive(Clone, Copy)]
enum Step {
    Key(usize),
    Item(usize),
}

enum Stop {
    SyntaxError(SyntaxError),
    TooDeep,
}

impl From<SyntaxError> for Stop {
    fn from(error: SyntaxError) -> Self {
        Stop::SyntaxError(error)
    }
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Value, Stop> {
        let first = self.lexer.peek();
        let start = self.lexer.offset;
        match first {
            Some(b'"') => Ok(Value::String(self.lexer.string()?.into_owned())),
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'-' | b'0'..=b'9') => {
                let text = self.lexer.number()?;
                let (value, oddity) = number::decimal(text).split(text);
                if let Some((code, message)) = oddity {
                    self.add_finding(code, start, message, "write a smaller number, or remove it");
                }
                if let Some(written) = Written::of(text, &value) {
                    let path: Vec<String> = self.pointer().tokens().map(Cow::into_owned).collect();
                    self.written.add(&path, written);
                }
                Ok(value)
            }
            Some(b't') if self.lexer.word("true") => Ok(Value::Bool(true)),
            Some(b'f') if self.lexer.word("false") => Ok(Value::Bool(false)),
            Some(b'n') if self.lexer.word("null") => Ok(Value::Null),
            _ => Err(self.lexer.expected("a value").into()),
        }
    }

    fn descend(&mut self, step: Step) -> Result<(), Stop> {
        self.path.push(step);
        if self.path.len() > MAX_DEPTH { Err(Stop::TooDeep) } else { Ok(()) }
    }

    /// Reports a comma before the end of an object or an array.
    fn trailing_comma(&self) -> Stop {
        let message = String::from("trailing comma, which JSON does not allow");
        Stop::SyntaxError(SyntaxError { offset: self.lexer.offset, message })
    }

    fn object(&mut self) -> Result<Value, Stop> {
        self.lexer.offset += 1;
        let first = self.members.len();
        if self.lexer.take(b'}') {
            return Ok(Value::Object(Map::new()));
        }
        loop {
            if self.lexer.peek() != Some(b'"') {
                let is_trailing_comma = self.members.len() > first && self.lexer.peek() == Some(b'}');
                return Err(match is_trailing_comma {
                    true => self.trailing_comma(),
                    false => self.lexer.expected("a key in double quotes").into(),
                });
            }
            let start = self.lexer.offset;
            let key = self.lexer.string()?.into_owned();
            if !self.lexer.take(b':') {
                return Err(self.lexer.expected("`:`").into());
            }
            self.descend(Step::Key(start))?;
            let value = self.value()?;
            self.path.pop();
            self.members.push((start, key, value));
            if self.lexer.take(b'}') {
                return Ok(Value::Object(self.map(first)));
            }
            if !self.lexer.take(b',') {
                return Err(self.lexer.expected("`,` or `}`").into());
            }
        }
    }

    /// Returns the object of the members from index `first` on.
    fn map(&mut self, first: usize) -> Map<String, Value> {
        let members = self.members.split_off(first);
        let mut map = Map::with_capacity(members.len());
        for (start, key, value) in members {
            match map.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(mut entry) => {
                    let message = format!("the key `{}` is a duplicate in its object", quote(entry.key()));
                    entry.insert(value);
                    self.path.push(Step::Key(start));
                    self.add_finding(codes::DUPLICATE_KEY, start, message, "remove one of the two");
                    self.path.pop();
                }
            }
        }
        map
    }

    fn array(&mut self) -> Result<Value, Stop> {
        self.lexer.offset += 1;
        let mut items = Vec::new();
        if self.lexer.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            if self.lexer.peek() == Some(b']') {
                return Err(self.trailing_comma());
            }
            self.descend(Step::Item(items.len()))?;
            items.push(self.value()?);
            self.path.pop();
            if self.lexer.take(b']') {
                items.shrink_to_fit();
                return Ok(Value::Array(items));
            }
            if !self.lexer.take(b',') {
                return Err(self.lexer.expected("`,` or `]`").into());
            }
        }
    }

    fn add_finding(&mut self, code: crate::Code, offset: usize, message: String, help: &'static str) {
        if self.findings.len() >= MAX_FINDINGS {
            return;
        }
        let pointer = self.pointer();
        self.findings.push(Finding { code, pointer, position: TextPosition::Byte(offset), message, help });
    }

    /// Returns the pointer to the parser's position.
    fn pointer(&self) -> Pointer {
        self.path.iter().fold(Pointer::ROOT, |pointer, step| match step {
            Step::Item(index) => pointer.item(*index),
            Step::Key(start) => pointer.child(&self.lexer.string_at(*start)),
        })
    }
}
