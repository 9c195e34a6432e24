//! A tool in the dialect of a provider.

use std::borrow::Cow;

use serde_json::Value;

use super::ToolSpec;
use crate::base::truncate::cut_at_sentence;
use crate::schema::dialect::Dialect;
use crate::schema::shape::render::{Loss, Refusal, Rendered, render_input};

/// A tool as a provider takes it, and what it no longer says. See [`ToolSpec::schema`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema<'a> {
    /// The description of the tool, cut at the end of a sentence if the dialect takes no longer one.
    pub description: Cow<'a, str>,
    /// The schema of the arguments.
    pub schema: Value,
    /// What could not be said, and where it went. A loss of the keyword `description` means that the description of
    /// the tool was cut.
    pub losses: Vec<Loss>,
}

impl ToolSpec {
    /// Renders the description and the schema of the arguments in the dialect of a provider.
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
    /// let words = |dialect| tool.spec().schema(dialect).map(|told| told.schema["properties"]["words"].clone());
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
        let Rendered { schema, mut losses } = render_input(&self.input, &self.defs, dialect)?;
        let limit = dialect.tool_description_length.unwrap_or(usize::MAX);
        let description = cut_at_sentence(&self.description, limit);
        if matches!(description, Cow::Owned(_)) {
            losses.insert(0, Loss { pointer: String::new(), keyword: "description", in_prose: false });
        }
        Ok(ToolSchema { description, schema, losses })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::dialect::{ANTHROPIC, OPENAI, OPENAI_STRICT};

    #[test]
    fn a_description_is_cut_where_the_dialect_limits_it() {
        let long = "It says this and that. ".repeat(60);
        let spec = ToolSpec { description: long.trim().to_owned().into(), ..ToolSpec::EMPTY };
        for dialect in [&OPENAI, &OPENAI_STRICT] {
            let told = spec.schema(dialect).unwrap();
            assert!(told.description.ends_with("and that. …"), "{}", told.description);
            let length = told.description.chars().count();
            assert!((950..=1_024).contains(&length), "{length}");
            let loss = Loss { pointer: String::new(), keyword: "description", in_prose: false };
            assert_eq!(told.losses, [loss]);
        }
        let told = spec.schema(&ANTHROPIC).unwrap();
        assert_eq!((told.description.as_ref(), told.losses), (spec.description.as_str(), vec![]));
    }
}
