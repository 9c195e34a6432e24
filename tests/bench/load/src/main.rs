//! One process under load. `load-bench service` serves requests at a local port, which it prints.
//! `load-bench worker SETTINGS` calls its operations as tools and prints the cost as JSON. `run.py` runs several.

mod service;
mod worker;

use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["service"] => service::run().await,
        ["worker", settings] => worker::run(&serde_json::from_str(settings)?).await,
        _ => Err("usage: load-bench service | load-bench worker SETTINGS".into()),
    }
}
