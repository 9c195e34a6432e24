//! A minimal JSON parser for the examples in documentation.

/// Checks a JSON object and returns its keys.
///
/// # Errors
///
/// Returns the reason if the JSON is invalid.
pub(crate) fn object_keys(text: &str) -> Result<Vec<String>, String> {
    let mut reader = Reader { rest: text.trim(), keys: Vec::new(), depth: 0 };
    if !reader.rest.starts_with('{') {
        return Err("it is not an object".to_owned());
    }
    reader.value()?;
    if reader.rest.is_empty() {
        Ok(reader.keys)
    } else {
        Err(format!("`{}` follows its end", short(reader.rest)))
    }
}

struct Reader<'a> {
    rest: &'a str,
    /// The keys of the outermost object.
    keys: Vec<String>,
    depth: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: char) -> bool {
        self.space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self) -> Result<(), String> {
        self.space();
        match self.rest.chars().next() {
            Some('{') => self.members('}', true),
            Some('[') => self.members(']', false),
            Some('"') => self.string().map(drop),
            Some(_) => self.scalar(),
            None => Err("it ends too early".to_owned()),
        }
    }

    fn members(&mut self, end: char, is_named: bool) -> Result<(), String> {
        self.rest = &self.rest[1..];
        self.depth += 1;
        if self.depth > 100 {
            return Err("it is nested too deeply".to_owned());
        }
        let mut first = true;
        loop {
            let more = !first && self.eat(',');
            if !more && self.eat(end) {
                self.depth -= 1;
                self.space();
                return Ok(());
            }
            if !first && !more {
                return Err(format!("`,` or `{end}` is missing before `{}`", short(self.rest)));
            }
            self.space();
            if is_named {
                let key = self.string()?;
                if self.depth == 1 {
                    self.keys.push(key);
                }
                if !self.eat(':') {
                    return Err(format!("`:` is missing before `{}`", short(self.rest)));
                }
            }
            self.value()?;
            first = false;
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let Some(rest) = self.rest.strip_prefix('"') else {
            return Err(format!("a string is missing before `{}`", short(self.rest)));
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

    fn scalar(&mut self) -> Result<(), String> {
        let end = self.rest.find([',', '}', ']', ' ', '\n', '\r', '\t']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let number =
            || word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && word.parse::<f64>().is_ok();
        if matches!(word, "true" | "false" | "null") || number() {
            self.rest = rest;
            Ok(())
        } else {
            Err(format!("`{}` is not a value", short(word)))
        }
    }
}

fn short(text: &str) -> String {
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
        for bad in [
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
            assert!(object_keys(bad).is_err(), "{bad}");
        }
    }
}
