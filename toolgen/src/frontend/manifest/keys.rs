//! The keys of every object of a manifest.
//!
//! The reader reports any other key, and a test compares these tables with `specs/manifest.schema.json`.

/// The keys of one kind of object.
#[derive(Debug)]
pub(super) struct Keys {
    /// What such an object is called in a message: `a tool`.
    pub(super) what: &'static str,
    /// The keys, those a reader expects first at the front.
    pub(super) names: &'static [&'static str],
}

/// The keys that say what kind of tool it is.
pub(super) const KINDS: &[&str] = &["command", "http", "function", "compose", "complete", "effect", "agent"];

pub(super) const TOP: Keys = Keys {
    what: "a manifest",
    names: &[
        "toolgen",
        "title",
        "description",
        "namespace",
        "defaults",
        "schemas",
        "tools",
        "endpoints",
        "imports",
        "toolsets",
        "contexts",
    ],
};
