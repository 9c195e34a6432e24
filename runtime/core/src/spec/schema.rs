//! Renders a tool in the dialect of a vendor.

use std::borrow::Cow;

use super::ToolSpec;
use super::size::{Forms, ToolSchema};
use crate::schema::dialect::Dialect;
use crate::schema::shape::render::Refusal;
use crate::schema::shape::slim::Slim;

impl ToolSpec {
    /// Renders the description and the schema of the arguments in the dialect of a vendor.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolgen_runtime::schema::dialect::{ANTHROPIC, OPENAI_STRICT};
    /// use toolgen_runtime::tool;
    ///
    /// /// Finds songs.
    /// #[tool]
    /// fn find(
    ///     /// Words of the text.
    ///     #[arg(len = 3..)]
    ///     words: String,
    /// ) -> String {
    ///     words
    /// }
    ///
    /// # use toolgen_runtime::AgentTool;
    /// let tool = find::tool();
    /// let words = |dialect| tool.spec().schema(dialect).map(|rendered| rendered.schema["properties"]["words"].clone());
    /// assert_eq!(words(&ANTHROPIC), Ok(json!({"type": "string", "description": "Words of the text.", "minLength": 3})));
    /// assert_eq!(
    ///     words(&OPENAI_STRICT),
    ///     Ok(json!({"type": "string", "description": "Words of the text. (at least 3 characters)"}))
    /// );
    ///
    /// let losses = tool.spec().schema(&OPENAI_STRICT).unwrap().losses;
    /// assert_eq!((losses[0].keyword, losses[0].in_prose), ("minLength", true));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns all reasons why the dialect cannot accept the arguments.
    pub fn schema(&self, dialect: &Dialect) -> Result<ToolSchema<'_>, Vec<Refusal>> {
        Forms::of(self).schema(dialect)
    }

    /// Like [`schema`](Self::schema), with other size reductions than those of the tool.
    ///
    /// ```
    /// use toolgen_runtime::schema::dialect::OPENAI;
    /// use toolgen_runtime::schema::shape::Slim;
    /// use toolgen_runtime::tool;
    ///
    /// /// Finds songs. Titles come first, then texts.
    /// #[tool]
    /// fn find(
    ///     /// The words to be found, in any order. Case does not matter.
    ///     words: String,
    /// ) -> String {
    ///     words
    /// }
    ///
    /// # use toolgen_runtime::AgentTool;
    /// let tool = find::tool();
    /// let rendered = tool.spec().schema_with(&OPENAI, &Slim::COMPACT).unwrap();
    /// assert_eq!(rendered.description, "Finds songs.");
    /// assert_eq!(rendered.schema["properties"]["words"]["description"], "The words to be found, in any order.");
    /// let words = &rendered.trims[1];
    /// assert_eq!(words.to_string(), "/properties/words: the description is shortened from 58 to 36 characters (description)");
    /// ```
    ///
    /// # Errors
    ///
    /// Returns all reasons why the dialect cannot accept the arguments.
    pub fn schema_with(&self, dialect: &Dialect, slim: &Slim) -> Result<ToolSchema<'_>, Vec<Refusal>> {
        Forms::new(self, Cow::Owned(slim.clone())).schema(dialect)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::dialect::{ANTHROPIC, JSON_SCHEMA, OPENAI, OPENAI_STRICT};
    use crate::schema::shape::read::read;
    use crate::schema::shape::render::Loss;

    #[test]
    fn description_is_truncated_to_the_dialect_limit() {
        let long = "It says this and that. ".repeat(60);
        let spec = ToolSpec { description: long.trim().to_owned().into(), ..ToolSpec::EMPTY };
        for dialect in [&OPENAI, &OPENAI_STRICT] {
            let rendered = spec.schema(dialect).unwrap();
            assert!(rendered.description.ends_with("and that. …"), "{}", rendered.description);
            let length = rendered.description.chars().count();
            assert!((950..=1_024).contains(&length), "{length}");
            let [Loss { pointer, keyword: "description", in_prose: false, .. }] = rendered.losses.as_slice()
            else {
                panic!("{:?}", rendered.losses)
            };
            assert_eq!(pointer, "");
        }
        let rendered = spec.schema(&ANTHROPIC).unwrap();
        assert_eq!((rendered.description.as_ref(), rendered.losses), (spec.description.as_str(), vec![]));
    }

    #[test]
    fn deprecation_of_a_tool_is_stated_once() {
        let description =
            |description: &'static str, deprecated: Option<&'static str>, dialect, slim: &Slim| {
                let deprecated = deprecated.map(Into::into);
                let spec = ToolSpec { description: description.into(), deprecated, ..ToolSpec::EMPTY };
                spec.schema_with(dialect, slim).unwrap().description.into_owned()
            };
        let text = "Gets a pet. It is fast.";
        assert_eq!(description(text, None, &OPENAI, &Slim::NONE), text);
        let plain = "Gets a pet. It is fast. Deprecated: do not use it if another tool does the same.";
        assert_eq!(description(text, Some(""), &OPENAI, &Slim::NONE), plain);
        assert_eq!(
            description(text, Some("use get_animal"), &ANTHROPIC, &Slim::NONE),
            format!("{text} Deprecated: use get_animal")
        );
        assert_eq!(
            description(text, Some("use get_animal"), &OPENAI, &Slim::COMPACT),
            "Gets a pet. Deprecated: use get_animal"
        );
        assert_eq!(
            description("Get the members of a team", Some("use get_group"), &OPENAI, &Slim::NONE),
            "Get the members of a team. Deprecated: use get_group"
        );
        for text in ["DEPRECATED! Gets a pet.", "Gets a pet (deprecated)."] {
            assert_eq!(description(text, Some(""), &OPENAI, &Slim::NONE), text);
        }
        // A dialect may limit the length of the description; the note must fit.
        let long: &'static str = "It says this and that. ".repeat(60).leak();
        let cut = description(long, Some("use get_animal"), &OPENAI, &Slim::NONE);
        assert!(
            cut.ends_with("and that. … Deprecated: use get_animal") && cut.chars().count() <= 1_024,
            "{cut}"
        );
    }

    #[test]
    fn deprecated_arguments_use_keyword_or_description() {
        let input = json!({"type": "object", "properties": {
            "a": {"type": "string", "description": "A name.", "deprecated": true},
            "b": {"type": "string", "description": "Deprecated in favour of `a`.", "deprecated": true},
        }});
        let spec = ToolSpec { input: read(&input, &mut Vec::new()).into(), ..ToolSpec::EMPTY };
        let visible = |dialect| spec.schema(dialect).unwrap().schema["properties"].clone();
        assert_eq!(visible(&JSON_SCHEMA), input["properties"]);
        for dialect in Dialect::ALL.iter().filter(|dialect| !dialect.accepts("deprecated")) {
            let visible = visible(dialect);
            let text = |name: &str| visible[name]["description"].as_str().unwrap().to_owned();
            assert!(text("a").contains("deprecated"), "{}: {}", dialect.name, text("a"));
            assert_eq!(
                text("b").to_lowercase().matches("deprecated").count(),
                1,
                "{}: {}",
                dialect.name,
                text("b")
            );
        }
    }
}
