//! The HTTP engine: tokens, pagination.

use serde_json::json;
use toolgen_runtime::engine::http::{HttpEngine, OAuth, Secret};

use crate::AnyResult;
use crate::readme::petstore::LIST_PETS;

#[derive(serde::Deserialize)]
struct Pet {
    name: String,
}

fn oauth(secret: Secret) -> AnyResult<HttpEngine> {
    page!("docs/http.md", "let tokens = OAuth::client_credentials(");
    Ok(engine)
}

#[test]
fn engine_requests_tokens() {
    assert!(oauth(Secret::new("s")).is_ok());
}

async fn pages(engine: &HttpEngine) -> AnyResult {
    page!("docs/http.md", "while let Some(pet) = pets.next().await");
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

    page!("docs/media.md", "while let Some(entry) = entries.next().await");
    Ok(())
}
