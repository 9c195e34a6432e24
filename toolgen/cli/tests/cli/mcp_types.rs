//! Tests that a breaking change of a lock is a compile error where a program calls the tool.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toolgen_runtime::spec::mcp::Lock;

use crate::support::checkout;

const CALLER: &str = "//! Calls tools of a lock.
use shop_tools::types::{Item, ShopFindOrders, ShopFindOrdersOutput, ShopFindOrdersState, ShopOrdersPlace};
use toolgen_runtime::TypedTool as _;

fn main() {
    let find = ShopFindOrders::new(7).with_state(ShopFindOrdersState::Paid);
    println!(\"{}\", find.into_arguments().unwrap());
    let items = [Item::new(\"A-1\").with_count(2)];
    let place = ShopOrdersPlace::new(7, items);
    println!(\"{}\", place.into_arguments().unwrap());
    let found = r#\"{\"orders\": [{\"id\": 3, \"state\": \"sent\", \"total\": 9.5, \"items\": [{\"sku\": \"A-1\"}]}]}\"#;
    let found: ShopFindOrdersOutput = serde_json::from_str(found).unwrap();
    println!(\"{}\", found.orders[0].total);
}
";

/// Generates a crate from the tools of a lock, and runs cargo in a crate that calls them.
fn cargo(dir: &Path, lock: &Lock, command: &str) -> (bool, String) {
    let root = checkout();
    let file = dir.join("shop.lock.json");
    fs::write(&file, lock.text()).unwrap();
    let out = dir.join("tools");
    let generated = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"))
        .args(["gen", "--crate", "shop-tools", "--force", "--out"])
        .args([&out, &PathBuf::from("--toolgen-path"), &root, &file])
        .output()
        .unwrap();
    assert!(generated.status.success(), "{}", String::from_utf8_lossy(&generated.stderr));
    let output = Command::new(env!("CARGO"))
        .args([command, "--quiet"])
        .current_dir(dir.join("caller"))
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("projects-target"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_NET_OFFLINE", "true")
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), text)
}

#[test]
#[ignore = "heavy: cargo"]
fn changed_lock_breaks_compilation_of_its_users() {
    let root = checkout();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-types");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("caller/src")).unwrap();
    fs::write(dir.join("caller/src/main.rs"), CALLER).unwrap();
    let runtime = root.join("runtime");
    let manifest = "[package]\nname = \"shop-caller\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
        [dependencies]\nserde_json = \"1\"\nshop-tools = { path = \"../tools\" }\n";
    let runtime =
        format!("toolgen-runtime = {{ path = '{}', default-features = false }}\n", runtime.display());
    fs::write(dir.join("caller/Cargo.toml"), format!("{manifest}{runtime}")).unwrap();
    fs::copy(root.join("Cargo.lock"), dir.join("caller/Cargo.lock")).unwrap();
    let text = fs::read_to_string(root.join("specs/mcp/shop.lock.json")).unwrap();
    let lock = Lock::read(&serde_json::from_str(&text).unwrap()).unwrap();

    let (fine, message) = cargo(&dir, &lock, "run");
    let expected = "{\"customer\":7,\"state\":\"paid\"}\n{\"customer\":7,\"items\":[{\"sku\":\"A-1\",\"count\":2}]}\n9.5\n";
    assert!(fine && message.contains(expected), "{message}");

    let changed = |tool: &str, pointer: &str, value: Value| {
        let mut lock = lock.clone();
        let found = lock.tools.iter_mut().find(|one| one["name"] == tool).unwrap();
        *found.pointer_mut(pointer).unwrap() = value;
        cargo(&dir, &lock, "check")
    };
    for (tool, pointer, value, part) in [
        // A different type, a new required field, a removed value, a result that became optional.
        (
            "find_orders",
            "/inputSchema/properties/customer",
            json!({"type": "string"}),
            "ShopFindOrders::new(7)",
        ),
        ("find_orders", "/inputSchema/required", json!(["customer", "since"]), "ShopFindOrders::new(7)"),
        ("find_orders", "/inputSchema/properties/state/enum", json!(["open", "sent"]), "Paid"),
        ("orders.place", "/inputSchema/required", json!(["customer"]), "items"),
        ("find_orders", "/outputSchema/required", json!([]), "found.orders[0]"),
    ] {
        let (fine, message) = changed(tool, pointer, value);
        assert!(
            !fine && message.contains("src/main.rs") && message.contains(part),
            "{tool}{pointer}:\n{message}"
        );
    }
    let (fine, message) = changed("find_orders", "/description", json!("Finds orders."));
    assert!(fine, "{message}");
}
