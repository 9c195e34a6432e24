//! The Rust of `docs/sharing.md`.

use toolgen_test_macros::page;

use crate::prelude::*;

fn shared(registry: &Registry, url: &str, key: &[u8; 32]) -> Result<Provider, Box<dyn std::error::Error>> {
    page!("docs/sharing.md", "RedisState::builder(");
    assert!(sessions.open("s-1").is_shared());
    Ok(provider)
}

#[tokio::test]
async fn the_example_builds_a_provider_before_there_is_a_server() {
    let registry = Registry::builder().seal().unwrap();
    assert!(shared(&registry, "redis://127.0.0.1:1", &[7; 32]).is_ok());
}
