//! Translates regular expressions for the engines of providers.
//!
//! A provider that compiles the patterns of tools rejects the whole request if its engine does not support one of
//! them. Syntax that the engine writes differently is translated; a pattern that cannot be translated is only stated
//! in the description.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Dialect, Patterns};
use crate::schema::shape::syntax::{Anchor, Capture, Member, Node, Set, Syntax};

/// The engine that compiles the regular expressions of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// ECMA-262, as in JSON Schema.
    EcmaScript,
    /// Python's `re`.
    Python,
    /// RE2 and other engines based on automata.
    Re2,
}

/// Maximum number of repetitions that RE2 accepts, as the product of nested repetitions.
const MAX_RE2_REPETITIONS: u64 = 1_000;

impl Dialect {
    /// Returns a regular expression of ECMA-262 in the syntax of the dialect's engine; `None` if the engine has no
    /// equivalent.
    #[must_use]
    pub fn pattern<'p>(&self, pattern: &'p str) -> Option<Cow<'p, str>> {
        if !self.patterns.accepts(pattern) {
            return None;
        }
        if self.engine == Engine::EcmaScript {
            return Some(Cow::Borrowed(pattern));
        }
        let mut writer = Writer {
            engine: self.engine,
            // Grammar compilers accept less than engines.
            allows_names: self.engine == Engine::Python || self.patterns == Patterns::All,
            allows_properties: self.patterns == Patterns::All,
            out: String::new(),
            used_names: BTreeSet::new(),
            closed_groups: BTreeSet::new(),
        };
        writer.write_node(&Syntax::of(pattern)?.root, 1)?;
        Some(if writer.out == pattern { Cow::Borrowed(pattern) } else { Cow::Owned(writer.out) })
    }
}

/// Writes a pattern for an engine. Each function returns `None` for syntax that has no equivalent in the engine.
struct Writer {
    engine: Engine,
    /// Whether groups may have names.
    allows_names: bool,
    /// Whether Unicode properties may be used, if the engine has them.
    allows_properties: bool,
    out: String,
    used_names: BTreeSet<String>,
    /// The groups that are closed.
    closed_groups: BTreeSet<usize>,
}

impl Writer {
    /// Writes a node. `repetitions` is the product of the enclosing repetitions.
    fn write_node(&mut self, node: &Node, repetitions: u64) -> Option<()> {
        match node {
            Node::Set(set) => self.write_set(set)?,
            Node::At(anchor) => self.out.push_str(match anchor {
                Anchor::Start => "^",
                Anchor::End => "$",
                Anchor::Boundary(true) => r"\b",
                Anchor::Boundary(false) => r"\B",
            }),
            Node::Sequence(nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    // In Python, `{,2}` is a repetition.
                    if self.engine == Engine::Python
                        && is_char(node, '{')
                        && nodes.get(index + 1).is_some_and(|next| is_char(next, ','))
                    {
                        self.out.push('\\');
                    }
                    self.write_node(node, repetitions)?;
                }
            }
            Node::Choice(nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    if index > 0 {
                        self.out.push('|');
                    }
                    self.write_node(node, repetitions)?;
                }
            }
            Node::Repeat { node, min, max: limit, source } => {
                let times = u64::from(limit.unwrap_or(*min)).max(1);
                let repetitions = repetitions.saturating_mul(times);
                if *limit == Some(u32::MAX) || self.engine == Engine::Re2 && repetitions > MAX_RE2_REPETITIONS
                {
                    return None;
                }
                self.write_node(node, repetitions)?;
                self.out.push_str(source);
            }
            Node::Group { node, capture } => self.write_group(node, capture.as_ref(), repetitions)?,
            Node::Look { node, ahead, must_match } => {
                self.write_lookaround(node, *ahead, *must_match, repetitions)?;
            }
            Node::Back { group, source } => {
                if self.engine == Engine::Re2 || !self.closed_groups.contains(group) {
                    return None;
                }
                match source.strip_prefix(r"\k<").and_then(|name| name.strip_suffix('>')) {
                    Some(name) if self.used_names.contains(name) => {
                        self.out.push_str(&format!("(?P={name})"));
                    }
                    Some(_) => self.out.push_str(&format!(r"(?:\{group})")),
                    None => self.out.push_str(source),
                }
            }
        }
        Some(())
    }

    fn write_group(&mut self, node: &Node, capture: Option<&Capture>, repetitions: u64) -> Option<()> {
        match capture {
            None => self.out.push_str("(?:"),
            Some(Capture { name, .. }) => {
                self.out.push('(');
                let is_name = |name: &&String| {
                    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                        && !name.starts_with(|first: char| first.is_ascii_digit())
                };
                let name = name.as_ref().filter(|_| self.allows_names).filter(is_name);
                if let Some(name) = name.filter(|name| self.used_names.insert((*name).clone())) {
                    self.out.push_str(&format!("?P<{name}>"));
                }
            }
        }
        self.write_node(node, repetitions)?;
        self.out.push(')');
        self.closed_groups.extend(capture.map(|capture| capture.index));
        Some(())
    }

    fn write_lookaround(
        &mut self,
        node: &Node,
        ahead: bool,
        must_match: bool,
        repetitions: u64,
    ) -> Option<()> {
        // Python requires a fixed width for lookbehind.
        if self.engine == Engine::Re2 || !ahead && width(node).is_none() {
            return None;
        }
        self.out.push_str(if ahead { "(?" } else { "(?<" });
        self.out.push(if must_match { '=' } else { '!' });
        self.write_node(node, repetitions)?;
        self.out.push(')');
        Some(())
    }

    fn write_set(&mut self, set: &Set) -> Option<()> {
        if !set.is_class {
            return set.members.iter().try_for_each(|member| self.write_member(member, false));
        }
        if set.members.is_empty() {
            self.out.push_str(if set.negated { r"[\s\S]" } else { r"[^\s\S]" });
            return Some(());
        }
        self.out.push_str(if set.negated { "[^" } else { "[" });
        for (index, member) in set.members.iter().enumerate() {
            let is_class =
                |member: Option<&Member>| matches!(member, Some(Member::Letter(_) | Member::Property(_)));
            let (before, after) =
                (index.checked_sub(1).and_then(|before| set.members.get(before)), set.members.get(index + 1));
            let inner = before.is_some() && after.is_some();
            match member {
                // Elsewhere the dash would form a range with a class, and the bracket would open a nested class.
                Member::Char(0x2D, source)
                    if source == "-"
                        && inner
                        && (self.engine == Engine::Re2 || is_class(before) || is_class(after)) =>
                {
                    self.out.push_str(r"\-");
                }
                Member::Char(0x5B, source) if source == "[" => self.out.push_str(r"\["),
                member => self.write_member(member, true)?,
            }
        }
        self.out.push(']');
        Some(())
    }

    fn write_member(&mut self, member: &Member, in_class: bool) -> Option<()> {
        match member {
            Member::Char(code, source) => self.write_char(*code, source, in_class)?,
            Member::Range((from, start), (to, end)) => {
                self.write_char(*from, start, in_class)?;
                self.out.push('-');
                self.write_char(*to, end, in_class)?;
            }
            Member::Letter('.') => self.out.push('.'),
            Member::Letter(letter) => self.out.extend(['\\', *letter]),
            // Only general categories have the same names in several engines.
            Member::Property(source)
                if self.allows_properties
                    && self.engine == Engine::Re2
                    && source.len() <= r"\p{Lu}".len() =>
            {
                self.out.push_str(source);
            }
            Member::Property(_) => return None,
        }
        Some(())
    }

    /// Writes a character as in the source, if the engine accepts that.
    fn write_char(&mut self, code: u32, source: &str, in_class: bool) -> Option<()> {
        let is_python = self.engine == Engine::Python;
        let is_accepted = match source.strip_prefix('\\') {
            None | Some("" | "f" | "n" | "r" | "t" | "v" | "0") => true,
            Some("b") => is_python && in_class,
            Some(hex) if hex.starts_with('x') && hex.len() == 3 => true,
            Some(hex) if hex.starts_with('u') && hex.len() == 5 => is_python,
            Some(sign) => sign.bytes().all(|sign| sign.is_ascii() && !sign.is_ascii_alphanumeric()),
        };
        if is_accepted {
            self.out.push_str(source);
            return Some(());
        }
        match char::from_u32(code) {
            Some(char) if char.is_ascii_alphanumeric() || !char.is_ascii() && !char.is_control() => {
                self.out.push(char);
            }
            _ if code < 0x100 => self.out.push_str(&format!(r"\x{code:02X}")),
            _ if is_python && code < 0x1_0000 => self.out.push_str(&format!(r"\u{code:04X}")),
            _ if is_python => self.out.push_str(&format!(r"\U{code:08X}")),
            Some(_) => self.out.push_str(&format!(r"\x{{{code:X}}}")),
            // Half of a surrogate pair.
            None => return None,
        }
        Some(())
    }
}

/// Whether a node is this character, unescaped.
fn is_char(node: &Node, char: char) -> bool {
    let Node::Set(Set { is_class: false, members, .. }) = node else { return false };
    matches!(members.as_slice(), [Member::Char(_, source)] if source.chars().eq([char]))
}

/// Returns the width of a node in characters, if it is fixed.
fn width(node: &Node) -> Option<u64> {
    match node {
        Node::Set(_) => Some(1),
        Node::At(_) | Node::Look { .. } => Some(0),
        Node::Sequence(nodes) => {
            nodes.iter().try_fold(0_u64, |sum, node| Some(sum.saturating_add(width(node)?)))
        }
        Node::Choice(nodes) => {
            let widths: BTreeSet<u64> = nodes.iter().map(width).collect::<Option<_>>()?;
            if widths.len() == 1 { widths.first().copied() } else { None }
        }
        Node::Repeat { node, min, max, .. } => {
            let item_width = width(node)?;
            (item_width == 0 || *max == Some(*min)).then(|| item_width.saturating_mul((*min).into()))
        }
        Node::Group { node, .. } => width(node),
        Node::Back { .. } => None,
    }
}

#[cfg(test)]
mod tests;
