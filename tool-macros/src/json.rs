//! A minimal JSON parser for the examples in documentation.

/// Checks a JSON object and returns its keys.
///
/// # Errors
///
/// Returns the reason if the JSON is invalid.
pub(crate) fn object_keys(text: &str) -> Result<Vec<String>, String> {
    let mut parser = Parser { rest: text.trim(), keys: Vec::new(), depth: 0 };
    if !parser.rest.starts_with('{') {
        return Err("it is not an object".to_owned());
    }
    parser.parse_value()?;
    if parser.rest.is_empty() {
        Ok(parser.keys)
    } else {
        Err(format!("`{}` follows its end", excerpt(parser.rest)))
    }
}

struct Parser<'a> {
    rest: &'a str,
    /// The keys of the outermost object.
    keys: Vec<String>,
    depth: usize,
}

impl Parser<'_> {
    fn skip_whitespace(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: char) -> bool {
        self.skip_whitespace();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn parse_value(&mut self) -> Result<(), String> {
        self.skip_whitespace();
        match self.rest.chars().next() {
            Some('{') => self.parse_members('}', true),
            Some('[') => self.parse_members(']', false),
            Some('"') => self.parse_string().map(drop),
            Some(_) => self.parse_scalar(),
            None => Err("it ends too early".to_owned()),
        }
    }

    fn parse_members(&mut self, end: char, is_named: bool) -> Result<(), String> {
        self.rest = &self.rest[1..];
        self.depth += 1;
        if self.depth > 100 {
            return Err("it is nested too deeply".to_owned());
        }
        let mut is_first = true;
        loop {
            let has_comma = !is_first && self.eat(',');
            if !has_comma && self.eat(end) {
                self.depth -= 1;
                self.skip_whitespace();
                return Ok(());
            }
            if !is_first && !has_comma {
                return Err(format!("`,` or `{end}` is missing before `{}`", excerpt(self.rest)));
            }
            self.skip_whitespace();
            if is_named {
                let key = self.parse_string()?;
                if self.depth == 1 {
                    self.keys.push(key);
                }
                if !self.eat(':') {
                    return Err(format!("`:` is missing before `{}`", excerpt(self.rest)));
                }
            }
            self.parse_value()?;
            is_first = false;
        }
    }

    fn parse_string(&mut self) -> Result<String, String> {
        let Some(rest) = self.rest.strip_prefix('"') else {
            return Err(format!("a string is missing before `{}`", excerpt(self.rest)));
        };
        let mut escaped = false;
        for (index, c) in rest.char_indices() {
            match c {
                '"' if !escaped => {
                    self.rest = &rest[index + 1..];
                    return Ok(rest[..index].to_owned());
                }
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        Err("a string is not closed".to_owned())
    }

    fn parse_scalar(&mut self) -> Result<(), String> {
        let end = self.rest.find([',', '}', ']', ' ', '\n', '\r', '\t']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let is_number =
            || word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && word.parse::<f64>().is_ok();
        if matches!(word, "true" | "false" | "null") || is_number() {
            self.rest = rest;
            Ok(())
        } else {
            Err(format!("`{}` is not a value", excerpt(word)))
        }
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(20).collect()
}

#[cfg(test)]
mod tests {
    use super::object_keys;

    #[test]
    fn keys_of_an_object_are_found() {
        assert_eq!(
            object_keys(r#" {"a": [1, {"x": null}], "b": "\"}"} "#),
            Ok(vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(object_keys("{}"), Ok(Vec::new()));
    }

    #[test]
    fn invalid_json_is_rejected() {
        for text in [
            "",
            "[]",
            "{",
            "{a: 1}",
            r#"{"a" 1}"#,
            r#"{"a": 1 "b": 2}"#,
            r#"{"a": yes}"#,
            "{} x",
            r#"{"a": 1,}"#,
        ] {
            assert!(object_keys(text).is_err(), "{text}");
        }
    }
}
