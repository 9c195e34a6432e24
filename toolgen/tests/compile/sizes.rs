//! How much work the size of tools is.

use std::fs;

use toolgen::{Options, Tool};
use toolgen_core::internal::Forms;
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::schema::shape::Slim;

use crate::support::{compiled_file, specs};

/// How often a tool above its ceiling is rendered at most, on average: whole, and each form whose sizes were not right.
const RENDERINGS: usize = 4;
/// How often one is at most whose sizes are never right: its forms are made then, few of which a search looks at.
const MOST: usize = 40;

/// Returns how often a tool above its ceiling is rendered until it fits; `None` for others.
fn renderings(tool: &Tool, dialect: &Dialect) -> Option<usize> {
    let forms = Forms::of(&tool.spec);
    let (_, above) = forms.measured(dialect).ok()?;
    let steps = forms.renderings();
    let most = if above.is_some() { MOST } else { 1 };
    assert!(steps <= most, "{}, {}: {steps}", tool.spec.name, dialect.name);
    above.map(|_| steps)
}

#[test]
fn tools_are_measured_in_few_steps() {
    let mut steps = Vec::new();
    for ceiling in [1_200, 3_000, 22_000] {
        let options = Options::default().slim(Slim { ceiling: Some(ceiling), ..Slim::NONE });
        for file in fs::read_dir(specs()).unwrap() {
            let (Some(program), _) = compiled_file(&file.unwrap().path(), &options) else { continue };
            for tool in program.all_tools() {
                steps.extend(Dialect::ALL.iter().filter_map(|dialect| renderings(tool, dialect)));
            }
        }
    }
    let (above, all) = (steps.len(), steps.iter().sum::<usize>());
    assert!(above > 20 && all <= RENDERINGS * above, "{all} renderings of {above} tools");
}
