//! Problems of contract locks (09xx).

crate::problem::codes::table! {
    UNUSABLE = "E0901", "A contract lock cannot be used", "
A contract lock is written by `cargo toolgen lock`, by a program with `toolgen_runtime::export!` or by a test with
`assert_contract!`. It is reviewed like code and not edited: this one has an unknown key, lacks a key, has a value
of another type, or does not exist.

    cargo toolgen lock api.yaml --out toolgen.lock
";
    CHANGED = "E0902", "The tools differ from their contract lock", "
The lock records what callers, models and policies rely on, and the tools now differ. Each change has a class:
`security` (the tool can do more harm, connect to another host, or hides something), `breaking` (accepted arguments may
be rejected, or results lack promised members), `model` (a model is offered something else), `added`, `text` (only
descriptions) or `compatible`. By default, breaking and security changes are errors and the rest are warnings;
`Options::deny_changes` and `--fail-on` set the limit.

If the change is intended, update the lock, review the difference, and commit it with the change.

    cargo toolgen check api.yaml --lock toolgen.lock --update
";
    DIFFERS = "W0903", "The tools differ from their contract lock in ways that are not errors", "
Like E0902, for changes of a class that is allowed: usually descriptions, new tools and new optional arguments. Update
the lock nevertheless, so that the next change is compared with the current tools.

    cargo toolgen check api.yaml --lock toolgen.lock --update
";
    NO_CALLS = "N0904", "The tools of a contract lock cannot be called", "
A lock records the specifications of tools, but only the parts of their execution plans that a reviewer needs: method,
path and host of a request, the arguments of a command. Its tools are listed, rendered, documented and compared like all
others. To call one, pass the document that the lock was made from, or use the program that has the tools.
";
}
