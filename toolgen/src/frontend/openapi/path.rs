//! Reads keys of `paths`: templates, with the query strings and fragments that documents put there.

use super::server::placeholders;

/// The path of an operation.
#[derive(Clone, Debug)]
pub(super) struct Template {
    /// The path alone, starting with a `/`.
    pub(super) path: String,
    /// The pairs of its query string that are fixed.
    pub(super) query: Vec<(String, String)>,
    /// The pairs whose value is a parameter: key and name of the parameter.
    variable: Vec<(String, String)>,
    /// What follows a `#`, which is never sent.
    pub(super) fragment: String,
}

impl Template {
    /// Reads a key of `paths`. A fragment only distinguishes operations on one path and is never sent to a server.
    pub(super) fn parse(key: &str) -> Template {
        let key = key.trim();
        let (key, fragment) = split_outside(key, '#');
        // `{?a,b}` (RFC 6570) only repeats the parameters.
        let key = key.split_once("{?").map_or(key, |(before, _)| before);
        let (path, pairs) = split_outside(key, '?');
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let fragment = fragment.to_owned();
        let mut template = Template { path, query: Vec::new(), variable: Vec::new(), fragment };
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

    /// Returns the key of the query pair whose value is this parameter.
    pub(super) fn query_key(&self, name: &str) -> Option<&str> {
        let pair = self.variable.iter().find(|(_, variable)| variable == name && !self.has(name))?;
        Some(&pair.0)
    }

    /// Rewrites placeholders as the parameters they must mean are declared: `{petID}` as `{petId}`.
    pub(super) fn adopt_case<'n>(&mut self, declared: impl Iterator<Item = &'n str>) {
        let plain = |name: &str| -> String {
            name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let declared: Vec<&str> = declared.collect();
        for own in self.names() {
            if declared.contains(&own.as_str()) {
                continue;
            }
            let mut meant = declared.iter().filter(|name| plain(name) == plain(&own) && !self.has(name));
            if let (Some(name), None) = (meant.next(), meant.next()) {
                self.path = self.path.replace(&format!("{{{own}}}"), &format!("{{{name}}}"));
            }
        }
    }
}

/// Splits a key at a character that is not part of a parameter's name.
fn split_outside(key: &str, at: char) -> (&str, &str) {
    let mut inside = false;
    let found = key.char_indices().find(|&(_, char)| {
        inside = (inside || char == '{') && char != '}';
        char == at && !inside
    });
    found.map_or((key, ""), |(index, char)| (&key[..index], &key[index + char.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(key: &str) -> (String, Vec<(String, String)>) {
        let template = Template::parse(key);
        (template.path, template.query)
    }

    #[test]
    fn keys_are_taken_apart() {
        assert_eq!(parse("/a/{b}"), ("/a/{b}".to_owned(), vec![]));
        assert_eq!(parse("a"), ("/a".to_owned(), vec![]));
        assert_eq!(
            parse("/a?beta=true&x"),
            ("/a".to_owned(), vec![("beta".to_owned(), "true".to_owned()), ("x".to_owned(), String::new())])
        );
        assert_eq!(parse("/a/{b#c}/{d?}#x{y}"), ("/a/{b#c}/{d?}".to_owned(), vec![]));
        assert_eq!(parse("/#X-Amz-Target=Do"), ("/".to_owned(), vec![]));
        assert_eq!(Template::parse("/a/{b#c}/{d?}#x{y}").fragment, "x{y}");
        let template = Template::parse("/a?id={petId}&b=1");
        assert_eq!(template.query_key("petId"), Some("id"));
        assert_eq!(template.query, [("b".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn placeholders_follow_the_declaration() {
        let mut template = Template::parse("/a/{petID}/{x}");
        template.adopt_case(["pet_id", "x"].into_iter());
        assert_eq!(template.names(), ["pet_id", "x"]);
        let mut unclear = Template::parse("/a/{petID}");
        unclear.adopt_case(["pet_id", "petId"].into_iter());
        assert_eq!(unclear.names(), ["petID"]);
    }
}
