# Common commands; `just` lists them. Nothing needs this file, see CONTRIBUTING.md.

_list:
    @just --list --unsorted

# Checks that everything compiles.
check:
    cargo check --workspace --all-features --all-targets

# Tests one crate: just test toolgen-runtime
test crate *words:
    cargo test -p {{crate}} {{words}}

# Tests one file of tests, with all features: just one toolgen project
one crate file *words:
    cargo test -p {{crate}} --all-features --test {{file}} {{words}}

# Tests everything.
all:
    cargo test --workspace

# Writes the golden files of one file of tests and shows what changed: just golden toolgen cli
golden crate file:
    TOOLGEN_UPDATE=1 cargo test -p {{crate}} --all-features --test {{file}}
    git diff --stat

# Lints, as the checks want them.
lint:
    cargo clippy --workspace --all-targets --all-features -- -D warnings

# Formats.
fmt:
    cargo fmt --all

# The rules of the repository, and the guide.
tidy:
    cargo test -p toolgen-tests --test tidy --test floors --test guide

# The documentation of the crates.
doc:
    cargo doc -p toolgen-core -p toolgen-runtime -p toolgen-macros -p toolgen --lib --all-features --no-deps --open

# The guide in a browser; needs mdbook.
book:
    mdbook serve docs --open

# Every check, as before a merge.
ci:
    .ci/run

# A release's files, without publishing: just release 0.1.0
release version:
    .ci/release {{version}}
