#![allow(unused)]

use std::sync::{Arc, Mutex};

use toolgen_runtime::{Service, tool};

trait Store: Send + Sync {}

struct Db;

/// Does it.
#[tool]
fn f(
    store: &dyn Store,
    shared: Arc<dyn Store>,
    own: Box<dyn Store + Send>,
    locked: Option<Arc<Mutex<dyn Store>>>,
    any: Vec<Box<dyn std::any::Any>>,
) {
}

/// Does it.
#[tool]
fn g(db: Arc<Db>) {}

/// Does it.
#[tool]
fn fine(store: Service<dyn Store>) {}

fn main() {}
