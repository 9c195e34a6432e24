//! Renders shapes as TypeScript types.
//!
//! A named shape that is used once, or whose type is short, is inlined. All others become `type` declarations, so
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

/// A named shape in arguments or in a result: the list that contains it, its name, and whether it is part of a result.
/// The last determines which fields are hidden.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key<'a> {
    scope: usize,
    name: &'a str,
    is_result: bool,
}

/// Where a shape is used.
#[derive(Clone, Copy)]
struct Site<'a> {
    scope: usize,
    is_result: bool,
    /// The declared type that contains the shape without an object or a list in between. The shape cannot refer to
    /// that type.
    enclosing: Option<Key<'a>>,
    depth: usize,
}

/// The types of several tools, which share named types.
pub(super) struct Types<'a> {
    scopes: Vec<&'a List<Def>>,
    uses: HashMap<Key<'a>, usize>,
    names: BTreeMap<Key<'a>, String>,
    used_names: HashSet<String>,
    /// The types that must still be declared.
    pending: Vec<Key<'a>>,
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
            pending: Vec::new(),
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

    /// Returns the index of a list of named shapes. Tools of one document share their list.
    fn scope(&mut self, defs: &'a List<Def>) -> usize {
        let is_same = |other: &&List<Def>| std::ptr::eq(&raw const other[..], &raw const defs[..]);
        let index = self.scopes.iter().rposition(is_same);
        index.or_else(|| self.scopes.iter().position(|other| *other == defs)).unwrap_or_else(|| {
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
        let site = Site { scope: self.scope(defs), is_result, enclosing: None, depth: 0 };
        self.shape_type(shape, site).text
    }

    /// Returns the types that the rendered types refer to, as `NAME` and its definition, in the order of their first
    /// use.
    pub(super) fn into_declarations(mut self) -> Vec<(String, String)> {
        while !self.pending.is_empty() {
            for key in std::mem::take(&mut self.pending) {
                let defs = self.scopes.get(key.scope).copied();
                let Some(target) = defs.and_then(|defs| find_def(defs, key.name)) else { continue };
                let site =
                    Site { scope: key.scope, is_result: key.is_result, enclosing: Some(key), depth: 0 };
                let text = self.shape_type(target, site).text;
                let name = self.names.get(&key).cloned().unwrap_or_default();
                self.declared.push((name, text));
            }
        }
        self.declared
    }

    fn shape_type(&mut self, shape: &'a Shape, site: Site<'a>) -> Type {
        if site.depth > MAX_DEPTH {
            return Type::atom("unknown");
        }
        let mut ty = self.kind_type(shape, site);
        if shape.nullable {
            ty.add_null();
        }
        ty
    }

    fn kind_type(&mut self, shape: &'a Shape, site: Site<'a>) -> Type {
        let inner = Site { depth: site.depth + 1, ..site };
        // Inside an object or a list, a type may refer to itself.
        let member = Site { enclosing: None, ..inner };
        match &shape.kind {
            Kind::Any | Kind::Raw(_) => Type::atom("unknown"),
            Kind::Never => Type::atom("never"),
            Kind::Null => Type::atom("null"),
            Kind::Boolean => Type::atom("boolean"),
            Kind::Integer(_) | Kind::Number(_) => Type::atom("number"),
            Kind::String(rules) => {
                let format =
                    [&rules.format, &rules.content_encoding].into_iter().find(|text| !text.is_empty());
                let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
                let format = format.filter(|format| is_word(format));
                Type::atom(format.map_or("string".into(), |format| format!("string /* {format} */")))
            }
            Kind::Enum(values) => {
                let variants = enum_types(values);
                let precedence = if variants.len() > 1 { Precedence::Or } else { Precedence::Tight };
                Type { text: variants.join(" | "), precedence, has_reference: false }
            }
            Kind::Array(rules) => {
                let items = self.shape_type(&rules.items, member);
                let has_reference = items.has_reference;
                Type { has_reference, ..Type::atom(format!("{}[]", items.parenthesized())) }
            }
            Kind::Tuple(rules) => self.tuple_type(rules, member),
            Kind::Object(rules) => self.object_type(rules, member),
            Kind::Union(rules) => self.join_types(&rules.variants, Precedence::Or, inner),
            Kind::All(parts) => self.join_types(parts, Precedence::And, inner),
            Kind::Ref(_) => self.ref_type(shape, inner),
        }
    }

    fn ref_type(&mut self, shape: &'a Shape, site: Site<'a>) -> Type {
        let Some((key, target, nullable)) = self.target(shape, site.scope, site.is_result) else {
            return Type::atom("unknown");
        };
        let mut ty = if self.is_inlined(key, target, site) {
            self.shape_type(target, site)
        } else if site.enclosing.is_some_and(|enclosing| self.consists_of(key, enclosing)) {
            return Type::atom("unknown");
        } else {
            let name = self.name_for(key);
            // A nullable type includes `null` in its declaration.
            Type { has_reference: true, ..Type::atom(name) }
        };
        if nullable {
            ty.add_null();
        }
        ty
    }

    fn is_inlined(&mut self, key: Key<'a>, target: &'a Shape, site: Site<'a>) -> bool {
        if self.uses.get(&key) == Some(&1) {
            return true;
        }
        let is_simple = !matches!(
            target.kind,
            Kind::Object(_) | Kind::Array(_) | Kind::Tuple(_) | Kind::Union(_) | Kind::All(_) | Kind::Ref(_)
        );
        is_simple && self.shape_type(target, site).text.len() <= MAX_INLINE
    }

    /// Whether a named shape consists of another one, directly or as a member of a union. TypeScript rejects such a
    /// cycle.
    fn consists_of(&self, from: Key<'a>, part: Key<'a>) -> bool {
        let mut pending = vec![from];
        let mut visited = BTreeSet::new();
        while let Some(key) = pending.pop() {
            if key == part {
                return true;
            }
            let Some(defs) = self.scopes.get(key.scope).filter(|_| visited.insert(key)) else { continue };
            let mut shapes: Vec<&'a Shape> = find_def(defs, key.name).into_iter().collect();
            while let Some(shape) = shapes.pop() {
                match &shape.kind {
                    Kind::Union(rules) => shapes.extend(rules.variants.iter()),
                    Kind::All(parts) => shapes.extend(parts.iter()),
                    Kind::Ref(_) => {
                        pending.extend(self.target(shape, key.scope, key.is_result).map(|target| target.0));
                    }
                    _ => {}
                }
            }
        }
        false
    }

    fn tuple_type(&mut self, rules: &'a TupleRules, site: Site<'a>) -> Type {
        let min_items = rules.min_items.unwrap_or(0);
        let mut has_reference = false;
        let mut items: Vec<String> = Vec::with_capacity(rules.items.len());
        for (index, item) in rules.items.iter().enumerate() {
            let ty = self.shape_type(item, site);
            has_reference |= ty.has_reference;
            let optional = u64::try_from(index).is_ok_and(|index| index >= min_items);
            items.push(if optional { format!("{}?", ty.parenthesized()) } else { ty.text });
        }
        let has_more = |limit: u64| u64::try_from(rules.items.len()).is_ok_and(|declared| limit > declared);
        if rules.max_items.is_none_or(has_more) {
            match &rules.rest {
                Extra::Open => items.push("...unknown[]".into()),
                Extra::Closed => {}
                Extra::Of(shape) => {
                    let rest = self.shape_type(shape, site);
                    has_reference |= rest.has_reference;
                    items.push(format!("...{}[]", rest.parenthesized()));
                }
            }
        }
        Type { has_reference, ..Type::atom(format!("[{}]", items.join(", "))) }
    }

    fn object_type(&mut self, rules: &'a ObjectRules, site: Site<'a>) -> Type {
        let fields = self.fields_type(rules, site);
        let map = self.map_type(rules, site);
        match (fields, map) {
            (None, None) if rules.extra == Extra::Closed => Type::atom("{}"),
            (None, None) => Type::atom("Record<string, unknown>"),
            (Some(fields), None) => fields,
            (None, Some(map)) => map,
            (Some(fields), Some(map)) => Type {
                text: format!("{} & {}", fields.text, map.text),
                precedence: Precedence::And,
                has_reference: fields.has_reference || map.has_reference,
            },
        }
    }

    fn fields_type(&mut self, rules: &'a ObjectRules, site: Site<'a>) -> Option<Type> {
        let hidden = hidden_access(site.is_result);
        let fields: Vec<&'a Field> = rules.fields.iter().filter(|field| field.access != hidden).collect();
        let mut has_reference = false;
        let mut members = Vec::with_capacity(fields.len());
        for field in fields {
            let ty = self.shape_type(&field.shape, site);
            has_reference |= ty.has_reference;
            let question_mark = if field.required { "" } else { "?" };
            members.push(format!("{}{question_mark}: {}", property(&field.name), ty.text));
        }
        (!members.is_empty())
            .then(|| Type { has_reference, ..Type::atom(format!("{{ {} }}", members.join("; "))) })
    }

    /// Returns the type of the fields that are matched by patterns or not declared, as a map.
    fn map_type(&mut self, rules: &'a ObjectRules, site: Site<'a>) -> Option<Type> {
        let patterns = rules.patterns.iter().map(|pattern| &pattern.shape);
        let extra = if let Extra::Of(shape) = &rules.extra { Some(&**shape) } else { None };
        let shapes: Vec<&'a Shape> = patterns.chain(extra).collect();
        if shapes.is_empty() {
            return None;
        }
        let values = self.join_types(shapes, Precedence::Or, site);
        // A `Record` that contains itself is an error; an index signature may contain itself.
        let text = if values.has_reference {
            format!("{{ [key: string]: {} }}", values.text)
        } else {
            format!("Record<string, {}>", values.text)
        };
        Some(Type { has_reference: values.has_reference, ..Type::atom(text) })
    }

    /// Returns the types of shapes joined by `|` or `&`, without duplicates.
    fn join_types(
        &mut self,
        shapes: impl IntoIterator<Item = &'a Shape>,
        by: Precedence,
        site: Site<'a>,
    ) -> Type {
        let mut has_reference = false;
        let mut types: Vec<String> = Vec::new();
        let mut last = Precedence::Tight;
        for shape in shapes {
            let ty = self.shape_type(shape, site);
            has_reference |= ty.has_reference;
            last = ty.precedence;
            let text = if ty.precedence == Precedence::Tight || ty.precedence == by || by == Precedence::Or {
                ty.text
            } else {
                ty.parenthesized()
            };
            let is_redundant = by == Precedence::And && text == "unknown";
            if !is_redundant && !types.contains(&text) {
                types.push(text);
            }
        }
        match types.as_slice() {
            [] => Type::atom("unknown"),
            [_] => Type { text: types.remove(0), precedence: last, has_reference },
            _ if by == Precedence::Or && types.iter().any(|text| text == "unknown") => Type::atom("unknown"),
            several => {
                let separator = if by == Precedence::Or { " | " } else { " & " };
                Type { text: several.join(separator), precedence: by, has_reference }
            }
        }
    }

    /// Returns the unique name of a declared type.
    fn name_for(&mut self, key: Key<'a>) -> String {
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let base = type_name(key.name);
        let candidates = (2..).map(|number: usize| format!("{base}{number}"));
        let name =
            std::iter::once(base.clone()).chain(candidates).find(|name| !self.used_names.contains(name));
        let name = name.unwrap_or(base);
        self.used_names.insert(name.clone());
        self.names.insert(key, name.clone());
        self.pending.push(key);
        name
    }
}

/// Returns the access of fields that are omitted.
const fn hidden_access(is_result: bool) -> Access {
    if is_result { Access::WriteOnly } else { Access::ReadOnly }
}

/// Visits the parts of a shape that appear in its type.
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
            let visible = rules.fields.iter().filter(|field| field.access != hidden_access(is_result));
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

/// A type, and how tightly it binds compared with `&`, `|` and `[]`.
struct Type {
    text: String,
    precedence: Precedence,
    /// Whether the type refers to a declared type: `Record` cannot contain a type that refers to it.
    has_reference: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Precedence {
    Tight,
    And,
    Or,
}

impl Type {
    fn atom(text: impl Into<String>) -> Type {
        Type { text: text.into(), precedence: Precedence::Tight, has_reference: false }
    }

    fn add_null(&mut self) {
        if !self.text.ends_with("null") && self.text != "unknown" {
            self.text.push_str(" | null");
            self.precedence = Precedence::Or;
        }
    }

    /// Returns the type for a position that allows only types that bind tightly.
    fn parenthesized(self) -> String {
        if self.precedence == Precedence::Tight { self.text } else { format!("({})", self.text) }
    }
}

/// Returns a type name that is similar to a name in a document.
fn type_name(name: &str) -> String {
    let mut name_text: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '$' { c } else { '_' }).collect();
    if name_text.is_empty() || name_text.starts_with(|c: char| c.is_ascii_digit()) {
        name_text.insert(0, '_');
    }
    if RESERVED.split_whitespace().any(|word| word == name_text) {
        name_text.push('_');
    }
    name_text
}

/// Returns a key of an object in TypeScript syntax: in quotes unless it is an identifier.
pub(in crate::spec::docs) fn property(name: &str) -> String {
    let mut chars = name.chars();
    let starts_like_identifier =
        chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$');
    if starts_like_identifier && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

/// Returns the types of values. If there are too many values, one type covers the remaining ones.
fn enum_types(values: &[Literal]) -> Vec<String> {
    let mut types: Vec<String> = Vec::new();
    for value in values.iter().take(MAX_LISTED) {
        let text = value.to_json().to_string();
        if !types.contains(&text) {
            types.push(text);
        }
    }
    if values.is_empty() {
        types.push("never".into());
    }
    if values.len() > MAX_LISTED {
        let all_strings = values.iter().all(|value| matches!(value, Literal::String(_)));
        types.push(format!(
            "{} /* one of {} */",
            if all_strings { "string" } else { "unknown" },
            values.len()
        ));
    }
    types
}

#[cfg(test)]
mod tests;
