//! The HTTP engine: tokens, lists in pages.

use serde_json::json;
use toolgen_runtime::engine::http::{HttpEngine, OAuth, Secret};

use crate::AnyResult;
use crate::readme::petstore::LIST_PETS;

#[derive(serde::Deserialize)]
struct Pet {
    name: String,
}

fn oauth(secret: Secret) -> AnyResult<HttpEngine> {
    let tokens = OAuth::client_credentials("https://auth.example.com/token", "my-client", secret)
        .scopes(["pets:read"]);
    let engine = HttpEngine::builder().oauth("petstore_auth", tokens).build()?;
    Ok(engine)
}

#[test]
fn an_engine_gets_tokens() {
    assert!(oauth(Secret::new("s")).is_ok());
}

async fn pages(engine: &HttpEngine) -> AnyResult {
    let mut pets = engine.items(&LIST_PETS, json!({"status": "sold"})).of::<Pet>();
    while let Some(pet) = pets.next().await {
        println!("{}", pet?.name);
    }
    Ok(())
}

async fn log(engine: &HttpEngine) -> AnyResult {
    use crate::readme::petstore::LIST_PETS as WATCH_LOG;

    #[derive(serde::Deserialize)]
    struct Message {
        message: String,
    }
    #[derive(serde::Deserialize)]
    struct Entry {
        data: Message,
    }

    let mut entries = engine.items(&WATCH_LOG, json!({"level": "warn"})).of::<Entry>();
    while let Some(entry) = entries.next().await {
        println!("{}", entry?.data.message);
    }
    Ok(())
}
