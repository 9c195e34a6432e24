//! Parses keys of `paths`: templates, with the query strings and fragments that documents add, and with the
//! placeholder syntax of other notations.

mod expression;

use std::collections::BTreeSet;

use self::expression::{Expression, Piece, parse_other_notation, pieces};
use super::server::placeholders;

/// The path of an operation.
#[derive(Clone, Debug)]
pub(super) struct Template {
    /// The path without query and fragment, starting with a `/`.
    pub(super) path: String,
    /// The pairs of the query string with constant values.
    pub(super) query: Vec<(String, String)>,
    /// The pairs of the query string whose value is a parameter: the key and the parameter's name.
    variable: Vec<(String, String)>,
    /// The part after a `#`, which is never sent.
    pub(super) fragment: String,
    /// The names of the parameters that cover several segments: slashes in their values separate segments.
    wildcards: BTreeSet<String>,
}

impl Template {
    /// Parses a key of `paths`. A fragment only distinguishes operations on one path and is never sent to a server.
    pub(super) fn parse(key: &str) -> Template {
        let key = key.trim();
        let (key, fragment) = split_outside(key, '#');
        // `{?a,b}` and `{&a}` (RFC 6570) only repeat the parameters.
        let key = ["{?", "{&"]
            .iter()
            .fold(key, |key, query| key.split_once(query).map_or(key, |(before, _)| before));
        let (path, pairs) = split_outside(key, '?');
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let fragment = fragment.to_owned();
        let mut template =
            Template { path, query: Vec::new(), variable: Vec::new(), fragment, wildcards: BTreeSet::new() };
        for pair in pairs.trim_matches(['{', '}']).split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match placeholders(&format!("{value}}}")).first() {
                Some(name) => template.variable.push((key.to_owned(), (*name).to_owned())),
                None => template.query.push((key.to_owned(), value.to_owned())),
            }
        }
        template
    }

    /// Returns the names in the path's braces.
    pub(super) fn names(&self) -> Vec<String> {
        placeholders(&self.path).into_iter().map(str::to_owned).collect()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.path.contains(&format!("{{{name}}}"))
    }

    /// Whether a parameter covers several segments.
    pub(super) fn is_wildcard(&self, name: &str) -> bool {
        self.wildcards.contains(name)
    }

    /// Returns the key of the query pair whose value is this parameter.
    pub(super) fn query_key(&self, name: &str) -> Option<&str> {
        let pair = self.variable.iter().find(|(_, variable)| variable == name && !self.has(name))?;
        Some(&pair.0)
    }

    /// Rewrites placeholders to the names of the declared parameters that match them: `{petID}` becomes
    /// `{petId}`, `{id:int}` and `{+id}` become `{id}`. The flag of a parameter says whether its style writes a prefix
    /// before the value.
    pub(super) fn rename_placeholders(&mut self, declared: &[(&str, bool)]) {
        let names: Vec<&str> = declared.iter().map(|(name, _)| *name).collect();
        let mut path = String::with_capacity(self.path.len());
        for piece in pieces(&self.path) {
            let raw = match piece {
                Piece::Fixed(text) => {
                    path.push_str(text);
                    continue;
                }
                Piece::Placeholder(raw) => raw,
            };
            let expression = Expression::of(raw);
            let name = match names.contains(&raw) {
                true => raw,
                false => matching_parameter(expression.name, &names).unwrap_or(expression.name),
            };
            if expression.is_wildcard {
                self.wildcards.insert(name.to_owned());
            }
            if name != raw && !declared.contains(&(name, true)) {
                path.push_str(&expression.prefix(name));
            }
            path.push_str(&format!("{{{name}}}"));
        }
        self.path = path;
    }

    /// Rewrites segments of other notations, `:id` and `<id>`, as placeholders, if the parameters are declared and
    /// have no other placeholder. Returns the original segments and their replacements.
    pub(super) fn rewrite_segments(&mut self, declared: &[(&str, bool)]) -> Vec<(String, String)> {
        let mut rewritten = Vec::new();
        let mut segments: Vec<String> = self.path.split('/').map(str::to_owned).collect();
        for segment in &mut segments {
            let Some(Expression { name, is_wildcard, .. }) = parse_other_notation(segment) else { continue };
            if self.has(name) || !declared.iter().any(|(declared_name, _)| *declared_name == name) {
                continue;
            }
            if is_wildcard {
                self.wildcards.insert(name.to_owned());
            }
            let placeholder = format!("{{{name}}}");
            rewritten.push((segment.clone(), placeholder.clone()));
            *segment = placeholder;
        }
        self.path = segments.join("/");
        rewritten
    }
}

/// Returns the parameter that matches a name, ignoring case and word separators, if only one matches.
fn matching_parameter<'n>(name: &str, declared: &[&'n str]) -> Option<&'n str> {
    if let Some(candidate) = declared.iter().find(|candidate| **candidate == name) {
        return Some(candidate);
    }
    let normalized = |name: &str| -> String {
        name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let mut matches = declared.iter().filter(|candidate| normalized(candidate) == normalized(name));
    matches.next().copied().filter(|_| matches.next().is_none())
}

/// Splits a key at a character that is not part of a parameter's name.
fn split_outside(key: &str, separator: char) -> (&str, &str) {
    let mut in_placeholder = false;
    let index = key.char_indices().find(|&(_, char)| {
        in_placeholder = (in_placeholder || char == '{') && char != '}';
        char == separator && !in_placeholder
    });
    index.map_or((key, ""), |(index, char)| (&key[..index], &key[index + char.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(key: &str) -> (String, Vec<(String, String)>) {
        let template = Template::parse(key);
        (template.path, template.query)
    }

    #[test]
    fn path_keys_are_split() {
        assert_eq!(split("/a/{b}"), ("/a/{b}".to_owned(), vec![]));
        assert_eq!(split("a"), ("/a".to_owned(), vec![]));
        assert_eq!(
            split("/a?beta=true&x"),
            ("/a".to_owned(), vec![("beta".to_owned(), "true".to_owned()), ("x".to_owned(), String::new())])
        );
        assert_eq!(split("/a/{b#c}/{d?}#x{y}"), ("/a/{b#c}/{d?}".to_owned(), vec![]));
        assert_eq!(split("/#X-Amz-Target=Do"), ("/".to_owned(), vec![]));
        assert_eq!(Template::parse("/a/{b#c}/{d?}#x{y}").fragment, "x{y}");
        let template = Template::parse("/a?id={petId}&b=1");
        assert_eq!(template.query_key("petId"), Some("id"));
        assert_eq!(template.query, [("b".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn placeholders_follow_the_declaration() {
        let mut template = Template::parse("/a/{petID}/{x}");
        template.rename_placeholders(&[("pet_id", false), ("x", false)]);
        assert_eq!(template.names(), ["pet_id", "x"]);
        let mut ambiguous = Template::parse("/a/{petID}");
        ambiguous.rename_placeholders(&[("pet_id", false), ("petId", false)]);
        assert_eq!(ambiguous.names(), ["petID"]);
    }

    #[test]
    fn path_expressions_map_to_their_parameters() {
        for (key, path, wildcards) in [
            ("/a/{+id}", "/a/{id}", &["id"][..]),
            ("/a/{*id}", "/a/{id}", &["id"]),
            ("/a/{**id}", "/a/{id}", &["id"]),
            ("/a/{id*}", "/a/{id}", &["id"]),
            ("/a/{id+}", "/a/{id}", &["id"]),
            ("/a/{id:.*}", "/a/{id}", &["id"]),
            ("/a/{id: .+}", "/a/{id}", &["id"]),
            ("/a/{id:path}", "/a/{id}", &["id"]),
            ("/a/{id=**}", "/a/{id}", &["id"]),
            ("/a/{id=x/*}:run", "/a/{id}:run", &["id"]),
            ("/a{/id}", "/a/{id}", &[]),
            ("/a{/id*}", "/a/{id}", &["id"]),
            ("/a{.id}", "/a.{id}", &[]),
            ("/a{;id}", "/a;id={id}", &[]),
            ("/a/{id:int}/b", "/a/{id}/b", &[]),
            ("/a/{id:[0-9]+}", "/a/{id}", &[]),
            ("/a/{id:[0-9]{4}}/b", "/a/{id}/b", &[]),
            ("/a/{id:\\d+\\.+x}", "/a/{id}", &[]),
            ("/a/{ID:int}", "/a/{id}", &[]),
            ("/a/{id?}", "/a/{id}", &[]),
            ("/a/{other:int}", "/a/{other}", &[]),
        ] {
            let mut template = Template::parse(key);
            template.rename_placeholders(&[("id", false)]);
            let found: Vec<&str> = template.wildcards.iter().map(String::as_str).collect();
            assert_eq!((template.path.as_str(), found.as_slice()), (path, wildcards), "{key}");
        }
        // These characters may be part of a declared name.
        let mut template = Template::parse("/a/{id*}/{x}{.y}{;z}");
        template.rename_placeholders(&[("id*", false), ("x", false), ("y", true), ("z", true)]);
        assert_eq!(template.path, "/a/{id*}/{x}{y}{z}");
        assert!(template.is_wildcard("id*"));
    }

    #[test]
    fn other_placeholder_notations_are_recognized() {
        let declared = &[("id", false), ("rest", false), ("x", false)];
        let mut template = Template::parse("/a/:id/<path:rest>/:other/{x}/:x/b:id");
        let found = template.rewrite_segments(declared);
        assert_eq!(template.path, "/a/{id}/{rest}/:other/{x}/:x/b:id");
        assert_eq!(found.len(), 2);
        assert!(template.is_wildcard("rest") && !template.is_wildcard("id"));
    }
}
