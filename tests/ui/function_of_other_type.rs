mod tools {
    include!("modules/functions.rs");
}

struct Mine;

impl tools::Functions for Mine {
    async fn count_words(
        &self,
        arguments: tools::CountWords,
        _: &toolgen_runtime::ToolContext,
    ) -> Result<i64, toolgen_runtime::ToolError> {
        Ok(match arguments.mode {
            tools::CountWordsMode::All => 1,
        })
    }

    async fn greet(
        &self,
        arguments: tools::Greet,
        _: &toolgen_runtime::ToolContext,
    ) -> Result<String, toolgen_runtime::ToolError> {
        Ok(arguments.name)
    }
}

fn main() {}
