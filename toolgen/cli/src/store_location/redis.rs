//! Approval queues in Redis and Valkey.

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::store::RedisStore;

/// Opens the queue of a namespace.
pub(super) async fn queue(url: &str, namespace: &str) -> Result<Approvals, String> {
    let store = RedisStore::builder(url, namespace.to_owned()).build().map_err(|error| error.to_string())?;
    store.ping().await.map_err(|error| error.to_string())?;
    Ok(Approvals::on(store))
}
