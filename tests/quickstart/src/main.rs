//! The main job on real input: a document, compiled by the build script, becomes tools that call a real service.

mod server;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let base_url = server::start().await?;
    let _ = (base_url, server::TOKEN);
    Ok(())
}
