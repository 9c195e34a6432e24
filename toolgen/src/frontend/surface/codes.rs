//! Problems of contract locks (09xx).

crate::problem::codes::table! {
    UNUSABLE = "E0901", "A contract lock cannot be used", "
A contract lock is written by `cargo toolgen lock`, by a program with `toolgen_runtime::export!` or by a test with
`assert_contract!`. It is reviewed like code and not edited: this one has an unknown key, lacks one, has a value of
another type, or is not there at all.

    cargo toolgen lock api.yaml --out toolgen.lock
";
    CHANGED = "E0902", "The tools differ from their contract lock", "
The lock says what callers, models and policies rely on, and the tools say something else now. Each change has a class:
`security` (the tool may do more harm, reach another host, or hides something), `breaking` (arguments that were accepted
may be refused, or results miss what was promised), `model` (a model is offered something else), `added`, `text` (only
what is read) or `compatible`. By default breaking and security changes are errors and the rest are warnings;
`Options::deny_changes` and `--fail-on` draw the line.

If the change is meant, write the lock again, read the difference, and commit it with the change.

    cargo toolgen check api.yaml --lock toolgen.lock --update
";
    DIFFERS = "W0903", "The tools differ from their contract lock in ways that are not errors", "
Like E0902, for changes of a class that is allowed: usually texts, new tools and new optional arguments. Write the lock
again all the same, so that the next change is compared with what there is now.

    cargo toolgen check api.yaml --lock toolgen.lock --update
";
    NO_CALLS = "N0904", "The tools of a contract lock cannot be called", "
A lock says what tools are, and of their calls only what a person has to know: method, path and host of a request, the
words of a command. Its tools are listed, rendered, documented and compared like all others. To call one, give the
document that the lock was made from, or use the program whose tools they are.
";
}
