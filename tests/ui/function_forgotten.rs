mod tools {
    include!("modules/functions.rs");
}

struct Mine;

impl tools::Functions for Mine {
    async fn greet(
        &self,
        arguments: tools::Greet,
        _: &toolgen_runtime::ToolContext,
    ) -> Result<toolgen_runtime::ToolResult, toolgen_runtime::ToolError> {
        Ok(toolgen_runtime::ToolResult::text(arguments.name))
    }
}

fn main() {
    let _ = tools::functions(Mine);
}
