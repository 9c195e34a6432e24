//! Locks, tokens, documentation: what build scripts and tests say of documents.

use crate::AnyResult;

fn a_lock() {
    // build.rs
    use toolgen::{Build, Options};

    Build::new("shop").document("api.yaml").options(Options::default().lock("toolgen.lock")).emit();
}

fn arguments_that_a_model_does_not_set() -> toolgen::Options {
    use toolgen::Options;

    let options = Options::default()
        .fix("api-version", "2026-01-01") // every request has it
        .fix("account", "a-17")
        .omit("X-Trace-*"); // no request has them
    options
}

mod functions {
    mod my_crate {
        use toolgen_runtime::{Registry, RegistryError};

        pub(super) fn registry() -> Result<Registry, RegistryError> {
            Registry::new([])
        }
    }

    mod held_to_a_lock {
        use super::my_crate;

        #[ignore = "there is no such lock"]
        #[test]
        fn the_tools_are_those_of_the_lock() {
            toolgen_runtime::assert_contract!("toolgen.lock", my_crate::registry());
        }
    }

    mod shown {
        use super::my_crate;

        // src/bin/tools.rs
        toolgen_runtime::export!(my_crate::registry());
    }
}

fn trimmed() -> AnyResult<toolgen::Options> {
    let options =
        // build.rs
        toolgen::Options::default().slim("compact, depth=4".parse()?)
    ;
    Ok(options)
}

fn within_a_budget() -> toolgen::Options {
    // build.rs, feature `tokens`: fails the build (E0802)
    toolgen::Options::default().token_budget(20_000, 2_000, "openai")
}

fn without_losses() -> toolgen::Options {
    // build.rs
    toolgen::Options::default().deny_losses("openai-strict")
}

fn linted() {
    // build.rs
    toolgen::Build::new("api")
        .document("api.yaml")
        .options(toolgen::Options::default().deny("warnings").deny("N0706").allow("W0705"))
        .emit();
}

fn a_prompt(provider: &toolgen_runtime::Provider) -> String {
    use toolgen_runtime::spec::docs::{Level, Style};

    let prompt = format!("You can call:\n\n{}", provider.docs_at(&Style::new(Level::Index)));
    prompt
}

mod lints {
    fn my_provider() -> toolgen_runtime::Provider {
        toolgen_runtime::Registry::new([]).unwrap().provider(Default::default())
    }

    use toolgen_runtime::spec::lint::{Lint, lint};

    #[test]
    fn tools_say_what_they_do() {
        let found = lint(my_provider().specs());
        let found: Vec<_> = found.iter().filter(|one| one.lint != Lint::NoArgumentDescription).collect();
        assert!(found.is_empty(), "{found:#?}");
    }
}
