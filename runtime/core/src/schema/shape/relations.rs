//! Rules between fields of an object: in canonical text, in prose, and in validation.

use serde_json::{Map, Value};

use crate::base::frozen::{List, Text};

/// A rule between fields of an object. A field that is `null` counts as absent.
///
/// Models ignore the JSON Schema for such a rule (`oneOf`, `dependentRequired`), and several providers reject these
/// keywords at the root. Every dialect therefore states the rule in the description, and the dialects that accept the
/// keywords also use them. Decoding enforces the rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// The kind of rule.
    pub kind: RelationKind,
    /// The names of the fields.
    pub fields: List<Text>,
}

/// The kinds of [`Relation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// Exactly one of the fields must be set.
    ExactlyOne,
    /// At most one of the fields may be set.
    AtMostOne,
    /// If the first field is set, all others must be set.
    Requires,
}

/// The keyword of the canonical text: `[["exactly-one", "a", "b"]]`.
pub(crate) const KEYWORD: &str = "x-relations";

const KINDS: [(RelationKind, &str); 3] = [
    (RelationKind::ExactlyOne, "exactly-one"),
    (RelationKind::AtMostOne, "at-most-one"),
    (RelationKind::Requires, "requires"),
];

/// Returns the value of [`KEYWORD`].
pub(crate) fn write(relations: &[Relation]) -> Value {
    let rule = |relation: &Relation| -> Value {
        let kind = KINDS.iter().find(|(kind, _)| *kind == relation.kind).map_or("", |(_, name)| name);
        [kind].into_iter().chain(relation.fields.iter().map(Text::as_str)).collect()
    };
    relations.iter().map(rule).collect()
}

/// Reads the rules that [`write`] wrote. Anything else is ignored.
pub(crate) fn read(schema: &Map<String, Value>) -> List<Relation> {
    let rules = schema.get(KEYWORD).and_then(Value::as_array).into_iter().flatten();
    let rule = |rule: &Value| {
        let mut words = rule.as_array()?.iter().map(Value::as_str);
        let name = words.next()??;
        let (kind, _) = KINDS.iter().find(|(_, keyword)| *keyword == name)?;
        let fields: Option<Vec<Text>> = words.map(|word| Some(word?.to_owned().into())).collect();
        Some(Relation { kind: *kind, fields: fields?.into() })
    };
    rules.filter_map(rule).collect()
}

impl Relation {
    /// Returns the rule as a sentence without a full stop.
    pub(crate) fn prose(&self) -> String {
        let names: Vec<String> = self.fields.iter().map(|name| format!("`{name}`")).collect();
        match (self.kind, names.as_slice()) {
            (RelationKind::ExactlyOne, names) => format!("give exactly one of {}", names.join(", ")),
            (RelationKind::AtMostOne, names) => format!("give at most one of {}", names.join(", ")),
            (RelationKind::Requires, [first, others @ ..]) => {
                format!("{first} can only be given together with {}", others.join(", "))
            }
            (RelationKind::Requires, []) => String::new(),
        }
    }

    /// Returns the problem with the fields that are set, if any.
    pub(crate) fn problem(&self, is_set: impl Fn(&str) -> bool) -> Option<String> {
        let set: Vec<&str> = self.fields.iter().map(Text::as_str).filter(|name| is_set(name)).collect();
        let is_broken = match self.kind {
            RelationKind::ExactlyOne => set.len() != 1,
            RelationKind::AtMostOne => set.len() > 1,
            RelationKind::Requires => {
                self.fields.first().is_some_and(|first| is_set(first)) && set.len() < self.fields.len()
            }
        };
        let names = || match set.as_slice() {
            [] => "none".to_owned(),
            set => set.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        };
        is_broken.then(|| format!("{}, got {}", self.prose(), names()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn relation(kind: RelationKind, names: &[&'static str]) -> Relation {
        Relation { kind, fields: names.iter().map(|name| Text::Static(name)).collect() }
    }

    #[test]
    fn arguments_are_checked_against_relations() {
        use RelationKind::{AtMostOne, ExactlyOne, Requires};
        let cases: [(RelationKind, &[&str], Option<&str>); 7] = [
            (ExactlyOne, &["a"], None),
            (ExactlyOne, &[], Some("give exactly one of `a`, `b`, got none")),
            (ExactlyOne, &["a", "b"], Some("give exactly one of `a`, `b`, got `a`, `b`")),
            (AtMostOne, &[], None),
            (AtMostOne, &["a", "b"], Some("give at most one of `a`, `b`, got `a`, `b`")),
            (Requires, &["b"], None),
            (Requires, &["a"], Some("`a` can only be given together with `b`, got `a`")),
        ];
        for (kind, given, expected) in cases {
            let problem = relation(kind, &["a", "b"]).problem(|name| given.contains(&name));
            assert_eq!(problem.as_deref(), expected);
        }
    }

    #[test]
    fn relations_round_trip_as_text() {
        let rules =
            [relation(RelationKind::AtMostOne, &["a", "b"]), relation(RelationKind::Requires, &["b", "c"])];
        let schema = json!({ KEYWORD: write(&rules) });
        assert_eq!(&*read(schema.as_object().unwrap()), &rules);
    }
}
