//! The locations of panics, and how to fix known ones.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{set_hook, take_hook};
use std::sync::Once;
use std::thread;

thread_local! {
    /// The location of the thread's last panic.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

static HOOK: Once = Once::new();

/// Installs a panic hook that records the locations of panics. It still calls the previous hook. A hook that
/// is set later replaces it.
pub fn watch() {
    HOOK.call_once(|| {
        // A panicking thread must not change the hook.
        if thread::panicking() {
            return;
        }
        let previous = take_hook();
        set_hook(Box::new(move |panic| {
            LAST.with(|last| {
                if let (Ok(mut last), Some(location)) = (last.try_borrow_mut(), panic.location()) {
                    *last = location.to_string();
                }
            });
            previous(panic);
        }));
    });
}

/// Returns the message of a panic, its location if it was in this thread, and how to fix it, if known. Returns `None`
/// if the panic has no message.
pub fn describe(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))?;
    let location = LAST.with(|last| last.try_borrow_mut().map(|mut last| std::mem::take(&mut *last)));
    let location = location.unwrap_or_default();
    let suffix = if location.is_empty() { location } else { format!(" (at {location})") };
    Some(match help(text) {
        Some(help) => format!("{text}{suffix}\n{help}"),
        None => format!("{text}{suffix}"),
    })
}

/// Returns how to fix the cause of a panic with this message, if known.
fn help(text: &str) -> Option<&'static str> {
    const BLOCKS: &str = "The tool blocks a thread that runs futures: make it `async` and use `.await`, or make it a plain \
                          `fn` with `#[tool(blocking)]`";
    const HELP: [(&str, &str); 5] = [
        (
            "no reactor running",
            "The tool needs tokio, and the program runs its futures without it: start it with `#[tokio::main]`, or run the \
             call by `tokio::runtime::Runtime::block_on`",
        ),
        ("Cannot start a runtime from within a runtime", BLOCKS),
        ("Cannot block the current thread from within a runtime", BLOCKS),
        (
            "can call blocking only when running on the multi-threaded runtime",
            "`block_in_place` needs several threads: start the program with `#[tokio::main]`, not with \
             `flavor = \"current_thread\"`",
        ),
        ("timers are disabled", "The runtime has no clock: build it with `enable_time` or `enable_all`"),
    ];
    HELP.iter().find(|(cause, _)| text.contains(cause)).map(|(_, help)| *help)
}
