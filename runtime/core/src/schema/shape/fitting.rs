//! Defaults and examples that do not fit their own shape, once the targets of its references are known.

use super::decode::{fits, result_problems};
use super::slim::children::mapped;
use super::{Def, Literal, Shape, prose};
use crate::base::frozen::List;

/// Shapes nested deeper than this are left as they are.
const MAX_DEPTH: usize = 64;

/// Returns the shape without the defaults and examples that do not fit, and what they were. `None` if there are none.
#[must_use]
pub fn without_misfits(shape: &Shape, defs: &List<Def>) -> Option<(Shape, Vec<String>)> {
    let mut told = Vec::new();
    let left = kept(shape, defs, 0, &mut told);
    (!told.is_empty()).then_some((left, told))
}

fn kept(shape: &Shape, defs: &List<Def>, depth: usize, told: &mut Vec<String>) -> Shape {
    if depth > MAX_DEPTH {
        return shape.clone();
    }
    let kind = mapped(&shape.kind, &mut |_, inner| kept(inner, defs, depth + 1, told));
    let mut is_right = |what: &str, literal: &Literal| {
        let value = literal.to_json();
        // A response may have what a request may not, and the other way round. `null` says that there is no default.
        if fits(&value, shape, defs) || (what == "default" && value.is_null()) {
            return true;
        }
        let problems = result_problems(&value, shape, defs);
        if let Some(problem) = problems.first() {
            let at =
                if problem.pointer.is_empty() { String::new() } else { format!("at {}, ", problem.pointer) };
            told.push(format!("the {what} {} does not fit: {at}{}", prose::value(literal), problem.message));
        }
        problems.is_empty()
    };
    let examples = shape.examples.iter().filter(|example| is_right("example", example)).cloned().collect();
    let default = shape.default.clone().filter(|default| is_right("default", default));
    Shape { kind, examples, default, ..shape.clone() }
}
