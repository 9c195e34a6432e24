//! The Rust of `docs/sharing.md`.
#![allow(clippy::print_stderr, reason = "an example of a program that tells")]

use toolgen_runtime::{Provider, Registry};

fn shared(registry: &Registry, url: &str, key: &[u8; 32]) -> Result<Provider, Box<dyn std::error::Error>> {
    use toolgen_runtime::call::session::{Sessions, SessionsLimits};
    use toolgen_runtime::layers::breaker::BreakerSettings;
    use toolgen_runtime::layers::rate::WindowLimit;
    use toolgen_runtime::layers::redis::{OnFailure, RedisState, StateChange};

    let state = RedisState::builder(url, "shop-production")
        .on_change(|change| match change {
            StateChange::Down(why) => eprintln!("{why}"),
            _ => eprintln!("shared state is back"),
        })
        .build()?;
    let provider = Provider::builder(registry)
        .rate_limit(state.rate_limit(WindowLimit::new().with_per_tool(10)).on_failure(OnFailure::Degrade))
        .breaker(state.breaker(BreakerSettings::DEFAULT).start()?) // inside of a Tokio runtime
        .repeat_store(state.failures())
        .approval_key(key) // 32 random bytes from a secret store: another process with it can resume requests
        .approval_store(state.approvals())
        .build()?;
    let sessions = Sessions::shared(SessionsLimits::DEFAULT, state.sessions());
    assert!(sessions.open("s-1").is_shared());
    Ok(provider)
}

#[tokio::test]
async fn the_example_builds_a_provider_before_there_is_a_server() {
    let registry = Registry::new([]).unwrap();
    assert!(shared(&registry, "redis://127.0.0.1:1", &[7; 32]).is_ok());
}
