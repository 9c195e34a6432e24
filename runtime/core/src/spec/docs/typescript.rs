//! Renders shapes as TypeScript types.
//!
//! A named shape that is used once, or whose type is short, is inlined. Any other becomes a `type` declaration, so
//! that recursive shapes terminate and nothing is repeated. Rules that types cannot express are omitted.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::base::frozen::List;
use crate::schema::shape::{
    Access, Def, Extra, Field, Kind, Literal, ObjectRules, Shape, TupleRules, find_def,
};

/// Maximum length of the type of a named shape that is inlined at each use, in bytes.
const MAX_INLINE: usize = 40;
/// Maximum nesting depth of a type.
const MAX_DEPTH: usize = 40;

/// A named shape in arguments or in a result: the list that contains it, its name, and whether it is part of a result,
/// which determines the hidden fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key<'a> {
    scope: usize,
    name: &'a str,
    is_result: bool,
}

/// Where a shape is used.
#[derive(Clone, Copy)]
struct At<'a> {
    scope: usize,
    is_result: bool,
    /// The declared type that contains the shape without an object or a list in between. The shape cannot refer to
    /// that type.
    inside: Option<Key<'a>>,
    depth: usize,
}

/// The types of several tools, which share named types.
pub(super) struct Types<'a> {
    scopes: Vec<&'a List<Def>>,
    uses: HashMap<Key<'a>, usize>,
    names: BTreeMap<Key<'a>, String>,
    used_names: HashSet<String>,
    /// The types that must still be declared.
    open: Vec<Key<'a>>,
    declared: Vec<(String, String)>,
}

impl<'a> Types<'a> {
    /// Counts the uses of each named shape by these shapes. Each item is a shape, its named shapes, and whether it is
    /// a result.
    pub(super) fn of(roots: impl IntoIterator<Item = (&'a Shape, &'a List<Def>, bool)>) -> Types<'a> {
        let mut types = Types {
            scopes: Vec::new(),
            uses: HashMap::new(),
            names: BTreeMap::new(),
            used_names: HashSet::new(),
            open: Vec::new(),
            declared: Vec::new(),
        };
        for (shape, defs, is_result) in roots {
            let scope = types.scope(defs);
            let mut shapes = vec![shape];
            while let Some(shape) = shapes.pop() {
                if let Some((key, target, _)) = types.target(shape, scope, is_result) {
                    let uses = types.uses.entry(key).or_default();
                    *uses += 1;
                    if *uses == 1 {
                        shapes.push(target);
                    }
                }
                children(shape, is_result, &mut |child| shapes.push(child));
            }
        }
        types
    }

    /// Returns the index of a list of named shapes. Tools of one document share theirs.
    fn scope(&mut self, defs: &'a List<Def>) -> usize {
        let is_same = |known: &&List<Def>| std::ptr::eq(&raw const known[..], &raw const defs[..]);
        let known = self.scopes.iter().rposition(is_same);
        known.or_else(|| self.scopes.iter().position(|known| *known == defs)).unwrap_or_else(|| {
            self.scopes.push(defs);
            self.scopes.len() - 1
        })
    }

    /// Returns the named shape that a chain of references ends at, and whether a reference allows `null`.
    fn target(&self, shape: &'a Shape, scope: usize, is_result: bool) -> Option<(Key<'a>, &'a Shape, bool)> {
        let defs = *self.scopes.get(scope)?;
        let Kind::Ref(name) = &shape.kind else { return None };
        let (mut name, mut nullable) = (name, false);
        for _ in 0..=defs.len() {
            let target = find_def(defs, name)?;
            let Kind::Ref(next) = &target.kind else {
                return Some((Key { scope, name, is_result }, target, nullable));
            };
            nullable |= target.nullable;
            name = next;
        }
        None
    }

    /// Returns the type of one of the counted shapes.
    pub(super) fn root(&mut self, shape: &'a Shape, defs: &'a List<Def>, is_result: bool) -> String {
        let at = At { scope: self.scope(defs), is_result, inside: None, depth: 0 };
        self.of_shape(shape, at).text
    }

    /// Returns the types that the rendered types refer to, as `NAME` and its definition, in the order of their first
    /// use.
    pub(super) fn declared(mut self) -> Vec<(String, String)> {
        while !self.open.is_empty() {
            for key in std::mem::take(&mut self.open) {
                let defs = self.scopes.get(key.scope).copied();
                let Some(target) = defs.and_then(|defs| find_def(defs, key.name)) else { continue };
                let at = At { scope: key.scope, is_result: key.is_result, inside: Some(key), depth: 0 };
                let text = self.of_shape(target, at).text;
                let name = self.names.get(&key).cloned().unwrap_or_default();
                self.declared.push((name, text));
            }
        }
        self.declared
    }

    fn of_shape(&mut self, shape: &'a Shape, at: At<'a>) -> Type {
        if at.depth > MAX_DEPTH {
            return Type::word("unknown");
        }
        let mut found = self.of_kind(shape, at);
        if shape.nullable {
            found.or_null();
        }
        found
    }

    fn of_kind(&mut self, shape: &'a Shape, at: At<'a>) -> Type {
        let inner = At { depth: at.depth + 1, ..at };
        // Inside an object or a list, a type may refer to itself.
        let member = At { inside: None, ..inner };
        match &shape.kind {
            Kind::Any | Kind::Raw(_) => Type::word("unknown"),
            Kind::Never => Type::word("never"),
            Kind::Null => Type::word("null"),
            Kind::Boolean => Type::word("boolean"),
            Kind::Integer(_) | Kind::Number(_) => Type::word("number"),
            Kind::String(rules) => {
                let form = [&rules.format, &rules.content_encoding].into_iter().find(|text| !text.is_empty());
                let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
                let form = form.filter(|form| is_word(form));
                Type::word(form.map_or("string".into(), |form| format!("string /* {form} */")))
            }
            Kind::Enum(values) => {
                let messages = listed(values);
                let loose = if messages.len() > 1 { Loose::Or } else { Loose::No };
                Type { text: messages.join(" | "), loose, names: false }
            }
            Kind::Array(rules) => {
                let items = self.of_shape(&rules.items, member);
                let names = items.names;
                Type { names, ..Type::word(format!("{}[]", items.tight())) }
            }
            Kind::Tuple(rules) => self.of_tuple(rules, member),
            Kind::Object(rules) => self.of_object(rules, member),
            Kind::Union(rules) => self.joined(&rules.variants, Loose::Or, inner),
            Kind::All(parts) => self.joined(parts, Loose::And, inner),
            Kind::Ref(_) => self.of_ref(shape, inner),
        }
    }

    fn of_ref(&mut self, shape: &'a Shape, at: At<'a>) -> Type {
        let Some((key, target, nullable)) = self.target(shape, at.scope, at.is_result) else {
            return Type::word("unknown");
        };
        let mut found = if self.stands_inline(key, target, at) {
            self.of_shape(target, at)
        } else if at.inside.is_some_and(|inside| self.is_made_of(key, inside)) {
            return Type::word("unknown");
        } else {
            let name = self.name(key);
            // A nullable type includes `null` in its declaration.
            Type { names: true, ..Type::word(name) }
        };
        if nullable {
            found.or_null();
        }
        found
    }

    fn stands_inline(&mut self, key: Key<'a>, target: &'a Shape, at: At<'a>) -> bool {
        if self.uses.get(&key) == Some(&1) {
            return true;
        }
        let is_word = !matches!(
            target.kind,
            Kind::Object(_) | Kind::Array(_) | Kind::Tuple(_) | Kind::Union(_) | Kind::All(_) | Kind::Ref(_)
        );
        is_word && self.of_shape(target, at).text.len() <= MAX_INLINE
    }

    /// Whether a named shape consists of another one, directly or as a member of a union. TypeScript rejects such a
    /// cycle.
    fn is_made_of(&self, from: Key<'a>, wanted: Key<'a>) -> bool {
        let mut open = vec![from];
        let mut seen = BTreeSet::new();
        while let Some(key) = open.pop() {
            if key == wanted {
                return true;
            }
            let Some(defs) = self.scopes.get(key.scope).filter(|_| seen.insert(key)) else { continue };
            let mut shapes: Vec<&'a Shape> = find_def(defs, key.name).into_iter().collect();
            while let Some(shape) = shapes.pop() {
                match &shape.kind {
                    Kind::Union(rules) => shapes.extend(rules.variants.iter()),
                    Kind::All(parts) => shapes.extend(parts.iter()),
                    Kind::Ref(_) => {
                        open.extend(self.target(shape, key.scope, key.is_result).map(|found| found.0));
                    }
                    _ => {}
                }
            }
        }
        false
    }

    fn of_tuple(&mut self, rules: &'a TupleRules, at: At<'a>) -> Type {
        let needed = rules.min_items.unwrap_or(0);
        let mut names = false;
        let mut items: Vec<String> = Vec::with_capacity(rules.items.len());
        for (index, item) in rules.items.iter().enumerate() {
            let found = self.of_shape(item, at);
            names |= found.names;
            let optional = u64::try_from(index).is_ok_and(|index| index >= needed);
            items.push(if optional { format!("{}?", found.tight()) } else { found.text });
        }
        let room = |limit: u64| u64::try_from(rules.items.len()).is_ok_and(|known| limit > known);
        if rules.max_items.is_none_or(room) {
            match &rules.rest {
                Extra::Open => items.push("...unknown[]".into()),
                Extra::Closed => {}
                Extra::Of(shape) => {
                    let rest = self.of_shape(shape, at);
                    names |= rest.names;
                    items.push(format!("...{}[]", rest.tight()));
                }
            }
        }
        Type { names, ..Type::word(format!("[{}]", items.join(", "))) }
    }

    fn of_object(&mut self, rules: &'a ObjectRules, at: At<'a>) -> Type {
        let fields = self.fields(rules, at);
        let others = self.others(rules, at);
        match (fields, others) {
            (None, None) if rules.extra == Extra::Closed => Type::word("{}"),
            (None, None) => Type::word("Record<string, unknown>"),
            (Some(fields), None) => fields,
            (None, Some(others)) => others,
            (Some(fields), Some(others)) => Type {
                text: format!("{} & {}", fields.text, others.text),
                loose: Loose::And,
                names: fields.names || others.names,
            },
        }
    }

    fn fields(&mut self, rules: &'a ObjectRules, at: At<'a>) -> Option<Type> {
        let hidden = hidden(at.is_result);
        let fields: Vec<&'a Field> = rules.fields.iter().filter(|field| field.access != hidden).collect();
        let mut names = false;
        let mut members = Vec::with_capacity(fields.len());
        for field in fields {
            let found = self.of_shape(&field.shape, at);
            names |= found.names;
            let mark = if field.required { "" } else { "?" };
            members.push(format!("{}{mark}: {}", property(&field.name), found.text));
        }
        (!members.is_empty()).then(|| Type { names, ..Type::word(format!("{{ {} }}", members.join("; "))) })
    }

    /// Returns the type of the fields that are matched by patterns or not declared, as a map.
    fn others(&mut self, rules: &'a ObjectRules, at: At<'a>) -> Option<Type> {
        let of_patterns = rules.patterns.iter().map(|pattern| &pattern.shape);
        let extra = if let Extra::Of(shape) = &rules.extra { Some(&**shape) } else { None };
        let shapes: Vec<&'a Shape> = of_patterns.chain(extra).collect();
        if shapes.is_empty() {
            return None;
        }
        let values = self.joined(shapes, Loose::Or, at);
        // A `Record` that contains itself is an error; an index signature may contain itself.
        let text = if values.names {
            format!("{{ [key: string]: {} }}", values.text)
        } else {
            format!("Record<string, {}>", values.text)
        };
        Some(Type { names: values.names, ..Type::word(text) })
    }

    /// Returns the types of shapes joined by `|` or `&`, without duplicates.
    fn joined(&mut self, shapes: impl IntoIterator<Item = &'a Shape>, by: Loose, at: At<'a>) -> Type {
        let mut names = false;
        let mut types: Vec<String> = Vec::new();
        let mut last = Loose::No;
        for shape in shapes {
            let found = self.of_shape(shape, at);
            names |= found.names;
            last = found.loose;
            let text = if found.loose == Loose::No || found.loose == by || by == Loose::Or {
                found.text
            } else {
                found.tight()
            };
            let says_nothing = by == Loose::And && text == "unknown";
            if !says_nothing && !types.contains(&text) {
                types.push(text);
            }
        }
        match types.as_slice() {
            [] => Type::word("unknown"),
            [_] => Type { text: types.remove(0), loose: last, names },
            _ if by == Loose::Or && types.iter().any(|text| text == "unknown") => Type::word("unknown"),
            several => {
                let sign = if by == Loose::Or { " | " } else { " & " };
                Type { text: several.join(sign), loose: by, names }
            }
        }
    }

    /// Returns the name of a declared type, unique among all.
    fn name(&mut self, key: Key<'a>) -> String {
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let base = type_name(key.name);
        let numbered = (2..).map(|number: usize| format!("{base}{number}"));
        let name = std::iter::once(base.clone()).chain(numbered).find(|name| !self.used_names.contains(name));
        let name = name.unwrap_or(base);
        self.used_names.insert(name.clone());
        self.names.insert(key, name.clone());
        self.open.push(key);
        name
    }
}

/// Returns the access of fields that are omitted.
const fn hidden(is_result: bool) -> Access {
    if is_result { Access::WriteOnly } else { Access::ReadOnly }
}

/// Visits the parts of a shape that types show.
fn children<'a>(shape: &'a Shape, is_result: bool, visit: &mut dyn FnMut(&'a Shape)) {
    match &shape.kind {
        Kind::Array(rules) => visit(&rules.items),
        Kind::Tuple(rules) => {
            rules.items.iter().for_each(&mut *visit);
            if let Extra::Of(rest) = &rules.rest {
                visit(rest);
            }
        }
        Kind::Object(rules) => {
            let visible = rules.fields.iter().filter(|field| field.access != hidden(is_result));
            visible.for_each(|field| visit(&field.shape));
            rules.patterns.iter().for_each(|pattern| visit(&pattern.shape));
            if let Extra::Of(extra) = &rules.extra {
                visit(extra);
            }
        }
        Kind::Union(rules) => rules.variants.iter().for_each(visit),
        Kind::All(parts) => parts.iter().for_each(visit),
        _ => {}
    }
}

/// Maximum number of values of an enumeration that a type lists.
const MAX_LISTED: usize = 50;

/// Names that types of a module cannot or should not have: reserved words, and names that signatures use.
const RESERVED: &str = "any as async await bigint boolean break case catch class const continue debugger default \
    delete do else enum export extends false finally for function if implements import in instanceof interface \
    intrinsic let never new null number object package private protected public return static string super switch \
    symbol this throw true try type typeof undefined unknown var void while with yield Record Tools";

/// A type, and whether it binds tighter than `&`, `|` and `[]`.
struct Type {
    text: String,
    loose: Loose,
    /// Whether it refers to a declared type: `Record` cannot contain a type that refers to it.
    names: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Loose {
    No,
    And,
    Or,
}

impl Type {
    fn word(text: impl Into<String>) -> Type {
        Type { text: text.into(), loose: Loose::No, names: false }
    }

    fn or_null(&mut self) {
        if !self.text.ends_with("null") && self.text != "unknown" {
            self.text.push_str(" | null");
            self.loose = Loose::Or;
        }
    }

    /// Returns the type for a position that allows only types that bind tightly.
    fn tight(self) -> String {
        if self.loose == Loose::No { self.text } else { format!("({})", self.text) }
    }
}

/// Returns a type name that is similar to a name in a document.
fn type_name(name: &str) -> String {
    let mut found: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '$' { c } else { '_' }).collect();
    if found.is_empty() || found.starts_with(|c: char| c.is_ascii_digit()) {
        found.insert(0, '_');
    }
    if RESERVED.split_whitespace().any(|word| word == found) {
        found.push('_');
    }
    found
}

/// Returns a key of an object in TypeScript syntax: in quotes unless it is an identifier.
pub(in crate::spec::docs) fn property(name: &str) -> String {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$');
    if starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

/// Returns the types of values, with a type for the rest if there are too many.
fn listed(values: &[Literal]) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for value in values.iter().take(MAX_LISTED) {
        let text = value.to_json().to_string();
        if !messages.contains(&text) {
            messages.push(text);
        }
    }
    if values.is_empty() {
        messages.push("never".into());
    }
    if values.len() > MAX_LISTED {
        let are_texts = values.iter().all(|value| matches!(value, Literal::String(_)));
        messages.push(format!(
            "{} /* one of {} */",
            if are_texts { "string" } else { "unknown" },
            values.len()
        ));
    }
    messages
}

#[cfg(test)]
mod tests;
