//! Prints the rules of a manifest.

use std::fmt::Write as _;

use super::ModuleStyle;
use super::literal::string;
use crate::tool::Program;

/// Writes the function that returns the layer of the rules, unless there are none.
pub(super) fn write(program: &Program, style: &ModuleStyle, out: &mut String) {
    let rules = program.all_rules();
    if rules.is_empty() {
        return;
    }
    let runtime = &style.runtime;
    let _ = write!(
        out,
        "\n/// Returns the layer of the rules on calls, for the toolbox of these tools: `builder.layer(rules())`. It needs the\n\
         /// feature `rules` of the runtime.\n#[must_use]\npub fn rules() -> {runtime}::rules::RulesLayer {{\n    \
         {runtime}::rules::generated(&[\n",
    );
    for rule in rules.as_slice() {
        let fields = [rule.to_string(), rule.reason().to_owned(), rule.place().to_owned()];
        let fields: Vec<String> = fields.iter().map(|field| string(field)).collect();
        let _ = writeln!(out, "        [{}],", fields.join(", "));
    }
    out.push_str("    ])\n}\n");
}
