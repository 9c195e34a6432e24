//! Prints the tools in each dialect, and the plans of requests, as JSON Lines.

use std::io::{self, BufWriter, Write, stdout};

use serde_json::{Value, json};
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::spec::ToolSpec;
use toolgen_runtime::wire::{PlanOptions, WireFormat};

use crate::sources::Source;

/// Prints a line for each tool and dialect, with the schema or the error, and a line for each request.
pub fn run(sources: &[Source]) {
    let mut out = BufWriter::new(stdout().lock());
    // The reader closed the pipe.
    let _ = sources.iter().try_for_each(|source| lines(source, &mut out)).and_then(|()| out.flush());
}

fn lines(source: &Source, out: &mut impl Write) -> io::Result<()> {
    for spec in &source.specs {
        for dialect in Dialect::ALL {
            let shown = shown(spec, dialect);
            writeln!(
                out,
                "{}",
                json!({"source": source.name, "tool": spec.name.as_str(), "dialect": dialect.name, "shown": shown})
            )?;
        }
    }
    for dialect in Dialect::ALL {
        let own = |format: &WireFormat| [Some(dialect), dialect.lax].contains(&Some(format.dialect()));
        for format in WireFormat::ALL.into_iter().filter(own) {
            // If neither dialect accepts the tools, their lines contain the reason.
            let Ok(plan) = format.plan_with(dialect, &source.specs, &PlanOptions::default().drop_excess()) else {
                continue;
            };
            let wanted = plan.decisions().iter().filter(|it| it.dialect == Some(dialect)).count();
            writeln!(
                out,
                "{}",
                json!({"source": source.name, "format": format.name(), "dialect": dialect.name,
                       "given": source.specs.len(), "as_wanted": wanted, "request": plan.tools()})
            )?;
        }
    }
    Ok(())
}

fn shown(spec: &ToolSpec, dialect: &Dialect) -> Value {
    match spec.schema(dialect) {
        Ok(told) => {
            let losses: Vec<_> =
                told.losses.iter().map(|loss| json!([loss.pointer, loss.keyword, loss.in_prose])).collect();
            json!({"description": told.description, "schema": told.schema, "losses": losses})
        }
        Err(refusals) => {
            let told: Vec<_> =
                refusals.iter().map(|one| format!("{}: {}", one.pointer, one.reason)).collect();
            json!({"refused": told})
        }
    }
}
