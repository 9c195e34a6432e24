//! Completes the schemas of a tool once its named shapes are known.

use super::ToolSpec;
use crate::schema::shape::belong::with_what_belongs;

/// Gives closed alternatives in the arguments and the result what stands beside them.
pub fn complete(spec: &mut ToolSpec) {
    if let Some(input) = with_what_belongs(&spec.input, &spec.defs) {
        spec.input = input.into();
    }
    let output = spec.output.as_ref().and_then(|output| with_what_belongs(output, &spec.defs));
    if let Some(output) = output {
        spec.output = Some(output.into());
    }
}
