//! Example calls, checked against the schema of the tool that they are for.

use serde_json::Value;

use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::decode::decode;
use crate::spec::{Example, ToolSpec};

impl ToolSpec {
    /// Returns the example calls that the tool would accept. Documentation shows no others: a model imitates them.
    pub fn fitting_examples(&self) -> impl Iterator<Item = &Example> {
        self.examples.iter().filter(|example| self.check_example(example).is_ok())
    }

    /// Checks that the tool would accept an example call.
    ///
    /// # Errors
    ///
    /// Why not: that the text is not JSON, or what is wrong with the arguments, one problem after the other.
    pub fn check_example(&self, example: &Example) -> Result<(), String> {
        let call: Value = serde_json::from_str(&example.arguments)
            .map_err(|error| format!("the arguments are not JSON: {error}"))?;
        match decode(&call, self.input.shape(), &self.defs, &JSON_SCHEMA) {
            Ok(_) => Ok(()),
            Err(problems) => {
                let told = problems.iter().map(|problem| match problem.pointer.as_str() {
                    "" => problem.message.clone(),
                    at => format!("{at}: {}", problem.message),
                });
                Err(told.collect::<Vec<_>>().join("; "))
            }
        }
    }
}
