//! State that is shared with other processes: what they could read of it.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use toolgen_runtime::store::{MemoryStore, Row, Store};

use crate::prelude::*;

fn rows(store: &MemoryStore, table: &str) -> Vec<Row> {
    // In memory there is nothing to wait for.
    match pin!(store.scan(table, "")).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(rows) => rows.unwrap(),
        Poll::Pending => panic!("it waits"),
    }
}

/// The tools that succeeded in the only session, as other processes see them.
pub(crate) fn called(store: &MemoryStore) -> Vec<Text> {
    let session =
        rows(store, "sessions").pop().map_or(Value::Null, |row| serde_json::from_slice(&row.value).unwrap());
    let called = session["called"].as_object();
    called.into_iter().flatten().map(|(tool, _)| Text::from(tool.clone())).collect()
}

/// All data that other processes could read.
pub(crate) fn text(store: &MemoryStore) -> String {
    let rows = ["sessions", "repeats"].into_iter().flat_map(|table| rows(store, table));
    rows.map(|row| String::from_utf8(row.value).unwrap() + "\n").collect()
}
