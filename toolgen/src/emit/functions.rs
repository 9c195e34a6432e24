//! Prints the trait of the functions that the program implements, and the table that calls them.

use std::fmt::Write as _;

use super::idents::{Names, snake};
use super::rust_types::doc;
use super::{ModuleStyle, Static, literal};

/// Writes the module `functions`, unless no tool is a function. `types` are the types of the arguments and results of
/// each tool, if they are generated.
pub(super) fn write(tools: &[Static<'_>], types: &[(String, String)], style: &ModuleStyle, out: &mut String) {
    let runtime = &style.runtime;
    let mut methods = Names::default();
    let functions: Vec<(String, usize, &Static<'_>)> = tools
        .iter()
        .enumerate()
        .filter(|(_, tool)| tool.is_function())
        .map(|(index, tool)| (methods.take(&snake(tool.spec.name.as_str())), index, tool))
        .collect();
    if functions.is_empty() {
        return;
    }
    out.push_str(
        "\n#[allow(unused_imports, reason = \"a program need not use them\")]\n\
         pub use self::functions::{Functions, functions};\n\n/// The functions that run tools of this module.\n\
         #[allow(unused_qualifications, reason = \"not every crate has a prelude\")]\npub mod functions {\n",
    );
    let _ = writeln!(out, "    use {runtime}::__private::functions as rt;");
    if style.types {
        let _ = write!(
            out,
            "    #[allow(unused_imports, reason = \"which of them the types need depends on the tools\")]\n    \
             use {{{runtime}::__private::types_prelude::*, super::types::*}};\n"
        );
    }
    out.push_str(
        "\n    /// The tools that are functions. Their arguments have been checked when they are called.\n    \
         pub trait Functions: rt::Send + rt::Sync + 'static {\n",
    );
    let mut table = String::new();
    for (index, (method, tool_index, tool)) in functions.iter().enumerate() {
        let (input, output) = match types.get(*tool_index) {
            Some((input, output)) => (input.as_str(), output.as_str()),
            None => ("rt::Value", "rt::Value"),
        };
        let has_output = tool.spec.output.is_some();
        let output = if has_output { output } else { "rt::ToolResult" };
        let text = doc::first_paragraph(&tool.spec.description);
        if index > 0 {
            out.push('\n');
        }
        doc::write(&format!("Runs [`{0}`](super::{0}). {text}", tool.ident), 8, out);
        let _ = write!(
            out,
            "        fn {method}(\n            &self,\n            arguments: {input},\n            \
             ctx: &rt::ToolContext,\n        ) -> impl rt::Future<Output = rt::Result<{output}, rt::ToolError>> \
             + rt::Send;\n",
        );
        let arguments = if types.is_empty() { "arguments" } else { "rt::decoded(arguments)?" };
        let name = literal::string(tool.spec.name.as_str());
        let call = format!("<F as Functions>::{method}(&functions, {arguments}, &ctx).await");
        let call = if has_output && !types.is_empty() { format!("rt::encoded({call})") } else { call };
        let _ = write!(
            table,
            "        rt::add(&mut table, {name}, &functions, |functions, arguments, ctx| async move {{\n            \
             {call}\n        }});\n"
        );
    }
    let _ = write!(
        out,
        "    }}\n\n    /// Returns the engine that runs the tools that are functions: give it to `Engines::with`.\n    \
         #[must_use]\n    pub fn functions<F: Functions>(functions: F) -> rt::FunctionTable {{\n        \
         let functions = rt::Arc::new(functions);\n        let mut table = rt::FunctionTable::new();\n{table}        \
         table\n    }}\n}}\n"
    );
}
