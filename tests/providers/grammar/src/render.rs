//! The tools in each dialect, as lines of JSON.

use std::io::{BufWriter, Write as _, stdout};

use serde_json::{Value, json};
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::spec::ToolSpec;

use crate::sources::Source;

/// Prints a line for each tool and dialect: the schema, or why there is none.
pub fn run(sources: &[Source]) {
    let mut out = BufWriter::new(stdout().lock());
    for source in sources {
        for spec in &source.specs {
            for dialect in Dialect::ALL {
                let line = json!({
                    "source": source.name, "tool": spec.name.as_str(), "dialect": dialect.name, "strict": dialect.strict,
                    "shown": shown(spec, dialect),
                });
                // Nobody reads on: there is nothing left to do.
                if writeln!(out, "{line}").is_err() {
                    return;
                }
            }
        }
    }
}

fn shown(spec: &ToolSpec, dialect: &Dialect) -> Value {
    match spec.schema(dialect) {
        Ok(told) => {
            let losses: Vec<_> = told.losses.iter().map(|loss| json!([loss.pointer, loss.keyword])).collect();
            json!({"description": told.description, "schema": told.schema, "losses": losses})
        }
        Err(refusals) => {
            let told: Vec<_> = refusals.iter().map(|one| format!("{}: {}", one.pointer, one.reason)).collect();
            json!({"refused": told})
        }
    }
}
