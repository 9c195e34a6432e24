//! Locks, tokens, documentation: examples of build scripts and tests.

use crate::AnyResult;

fn a_lock() {
    page!("docs/lock.md", "Build::new(");
}

fn arguments_that_a_model_does_not_set() -> toolgen::Options {
    use toolgen::Options;

    page!("docs/openapi.md", "let options = Options::default()");
    options
}

fn some_operations() -> toolgen::Options {
    page!("docs/large-apis.md", "GET /health");
    options
}

mod functions {
    mod my_crate {
        use toolgen_runtime::{Registry, RegistryError};

        pub(super) fn registry() -> Result<Registry, RegistryError> {
            Registry::builder().seal()
        }
    }

    mod held_to_a_lock {
        use super::my_crate;

        page!("docs/lock.md", "fn the_tools_are_those_of_the_lock()");
    }

    mod shown {
        use super::my_crate;

        page!("docs/lock.md", "toolgen_runtime::export!(my_crate::registry());");
    }
}

fn trimmed() -> AnyResult<toolgen::Options> {
    Ok({
        page! { "docs/tokens.md", "toolgen::Options::default().slim(" }
    })
}

fn within_a_budget() -> toolgen::Options {
    page! { "docs/tokens.md", "toolgen::Options::default().token_budget(" }
}

fn without_losses() -> toolgen::Options {
    page! { "docs/documentation.md", "toolgen::Options::default().deny_losses(" }
}

fn linted() {
    page!("docs/documentation.md", "toolgen::Build::new(");
}

fn a_prompt(toolbox: &toolgen_runtime::Toolbox) -> String {
    page!("docs/documentation.md", "let prompt = format!(");
    prompt
}

mod lints {
    fn my_toolbox() -> toolgen_runtime::Toolbox {
        toolgen_runtime::Registry::builder().seal().unwrap().toolbox(Default::default())
    }

    page!("docs/documentation.md", "fn tools_say_what_they_do()");
}
