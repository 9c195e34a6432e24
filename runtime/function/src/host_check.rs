//! Checks at compile time that the network effects of a tool name hosts.

use toolgen_core::internal::hosts::{host_within, is_host};

use toolgen_kernel::base::const_text::ConstText;

/// Rejects a string that is not a host.
///
/// # Panics
///
/// Panics if the string is not a host. In a constant, that is a compile error at the string.
#[track_caller]
#[expect(clippy::panic, reason = "an invalid host is a compile error where it is written")]
pub const fn host(text: &str) {
    if !is_host(text) {
        let message = ConstText::<300>::EMPTY.and("`").and(text).and("` is not a host; write `");
        let message = match host_within(text) {
            Some(host) => message.and(host).and("`"),
            None => message.and("api.example.com`, `api.example.com:8443`, `none` or `any`"),
        };
        panic!("{}", message.as_str());
    }
}
