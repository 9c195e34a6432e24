//! Finds the list that makes a JSON text large, so that pages end between its items.

use std::ops::Range;

use serde_core::de::IgnoredAny;

use crate::base::truncate;

/// Maximum depth of objects around the list.
const MAX_DEPTH: usize = 8;

/// Maximum length of the pointer to a list, in bytes.
const MAX_POINTER: usize = 200;

/// The largest list in a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ItemList {
    /// The location of the list, as a JSON pointer; empty for the whole text.
    pub(super) pointer: String,
    /// The offset after `[`.
    pub(super) start: usize,
    /// The offset of `]`.
    pub(super) end: usize,
    /// The offset after the JSON.
    pub(super) json_end: usize,
}

impl ItemList {
    /// Finds the largest list in the JSON that a text consists of, or that follows its first empty line. Only lists in
    /// objects are considered, not lists in lists. `None` without valid JSON, or if no list has several items.
    pub(super) fn find(text: &str) -> Option<ItemList> {
        let starts = [Some(0), text.find("\n\n").map(|at| at + 2)];
        let start = starts.into_iter().flatten().find(|start| {
            let body = text.get(*start..).unwrap_or_default();
            body.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(body).is_ok()
        })?;
        let mut scanner = Scanner { text, position: start, path: String::new(), largest: None };
        scanner.value(0);
        scanner.largest.filter(|list| list.items(text).nth(1).is_some() && list.pointer.len() <= MAX_POINTER)
    }

    /// Returns the list in a text in which its own text begins at an offset.
    pub(super) fn moved_by(self, offset: usize) -> ItemList {
        let ItemList { pointer, start, end, json_end } = self;
        ItemList { pointer, start: start + offset, end: end + offset, json_end: json_end + offset }
    }

    /// The locations of the items, in their order.
    pub(super) fn items<'t>(&self, text: &'t str) -> impl Iterator<Item = Range<usize>> + use<'t> {
        let (mut position, end) = (self.start, self.end);
        std::iter::from_fn(move || {
            let mut scanner = Scanner { text, position, path: String::new(), largest: None };
            scanner.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
            let start = scanner.position;
            if start >= end {
                return None;
            }
            scanner.skip_value();
            position = scanner.position;
            (position > start).then_some(start..position)
        })
    }

    /// Describes some of the items: `items 0-41 of 300 of /items`.
    pub(super) fn describe(&self, shown: &Range<usize>, total: usize) -> String {
        let location = if self.pointer.is_empty() { String::new() } else { format!(" of {}", self.pointer) };
        match shown.len() {
            0 | 1 => format!("item {} of {total}{location}", shown.start),
            _ => format!("items {}-{} of {total}{location}", shown.start, shown.end - 1),
        }
    }
}

/// Scans valid JSON.
struct Scanner<'t> {
    text: &'t str,
    position: usize,
    path: String,
    largest: Option<ItemList>,
}

impl Scanner<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self.byte().is_some_and(&is_skipped) {
            self.position += 1;
        }
    }

    /// Scans a value that may contain lists.
    fn value(&mut self, depth: usize) {
        self.skip(|byte| byte.is_ascii_whitespace());
        match self.byte() {
            Some(b'{') if depth < MAX_DEPTH => self.object(depth),
            Some(b'[') => {
                let start = self.position + 1;
                self.skip_value();
                let end = self.position.saturating_sub(1);
                if self.largest.as_ref().is_none_or(|list| end - start > list.end - list.start) {
                    self.largest =
                        Some(ItemList { pointer: self.path.clone(), start, end, json_end: self.text.len() });
                }
            }
            _ => self.skip_value(),
        }
    }

    fn object(&mut self, depth: usize) {
        self.position += 1;
        loop {
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
            let start = self.position;
            if self.byte() != Some(b'"') {
                self.position += 1;
                return;
            }
            self.skip_value();
            let key: String = self
                .text
                .get(start..self.position)
                .and_then(|key| serde_json::from_str(key).ok())
                .unwrap_or_default();
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b':');
            let length = self.path.len();
            self.path.push('/');
            self.path.push_str(&truncate::cut(&key, MAX_POINTER).replace('~', "~0").replace('/', "~1"));
            self.value(depth + 1);
            self.path.truncate(length);
        }
    }

    /// Moves after a value.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.byte() {
                None => return,
                Some(b'"') => self.skip_string(),
                Some(b'[' | b'{') => {
                    depth += 1;
                    self.position += 1;
                }
                Some(b']' | b'}') => {
                    if depth == 0 {
                        return;
                    }
                    depth -= 1;
                    self.position += 1;
                }
                Some(b',') if depth == 0 => return,
                Some(byte) if depth == 0 && byte.is_ascii_whitespace() => return,
                Some(_) if depth == 0 => {
                    self.skip(|byte| !byte.is_ascii_whitespace() && !b",:]}".contains(&byte));
                }
                Some(_) => self.position += 1,
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_string(&mut self) {
        self.position += 1;
        while let Some(byte) = self.byte() {
            self.position += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn found(text: &str) -> Option<(String, Vec<&str>)> {
        let list = ItemList::find(text)?;
        let items = list.items(text).map(|item| &text[item]).collect();
        Some((list.pointer, items))
    }

    #[test]
    fn largest_list_is_found() {
        let both = r#"{"a":[1,2],"b/c":{"d":[ {"x":"]"} , "\"[" ]},"n":1}"#;
        for (text, pointer, items) in [
            ("[1, [2, 3],\n\"a,]\"]", "", vec!["1", "[2, 3]", "\"a,]\""]),
            (both, "/b~1c/d", vec![r#"{"x":"]"}"#, r#""\"[""#]),
            ("HTTP 200\nA: b\n\n{\"n\":[true,null]}", "/n", vec!["true", "null"]),
        ] {
            assert_eq!(found(text), Some((pointer.to_owned(), items)), "{text}");
        }
        for text in ["", "text", "[1]", "{}", "{\"a\":[]}", "[1, 2", "a\n\nb [1, 2]", "7", "[1,2] x"] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn items_are_those_of_the_parsed_list(
            items in proptest::collection::vec("[a\"\\\\,\\]\\[{}: ß]{0,6}", 2..6),
            numbers in proptest::collection::vec(any::<i32>(), 0..4),
            pretty in any::<bool>(),
        ) {
            let item = |text: &String| json!({"t": text, "n": numbers});
            let value = json!({"x": {"list": items.iter().map(item).collect::<Vec<_>>()}, "after": 1});
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let list = ItemList::find(&text).unwrap();
            let parsed: Vec<Value> =
                list.items(&text).map(|item| serde_json::from_str(&text[item]).unwrap()).collect();
            prop_assert_eq!(Some(&parsed), value["x"]["list"].as_array());
        }
    }
}
