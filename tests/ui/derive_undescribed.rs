use toolgen_runtime::ToolInput;

/// Where to send it.
#[derive(ToolInput)]
#[tool_input(documented)]
struct Address {
    /// The street, with the number.
    street: String,
    city: String,
    #[arg(description = "The code that the post goes by.")]
    code: String,
    #[serde(flatten)]
    more: More,
}

#[derive(ToolInput)]
struct More {
    country: Option<String>,
}

#[derive(ToolInput)]
#[tool_input(documented)]
enum Way {
    Ship { days: u8 },
    Pickup,
}

#[derive(ToolInput)]
#[tool_input(undocumented)]
struct Other {
    a: u8,
}

fn main() {}
