#![allow(unused)]

use toolgen_runtime::tool;

use std::rc::Rc;

/// Does it.
#[tool]
async fn f() -> usize {
    let shared = Rc::new(1);
    std::future::ready(()).await;
    *shared
}

fn main() {}
