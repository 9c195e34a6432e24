# Common commands; `just` lists them. Nothing needs this file, see CONTRIBUTING.md.

_list:
    @just --list --unsorted

# Checks that everything compiles.
check:
    cargo check --workspace --all-features --all-targets

# Tests one crate: just test toolgen-runtime
test crate *words:
    cargo test -p {{crate}} {{words}}

# Tests one test program, or a part of it: just one cargo-toolgen cli project::
one crate program *words:
    cargo test -p {{crate}} --test {{program}} {{words}}

# Tests everything but what takes long.
all:
    cargo test --workspace

# Tests what takes long.
heavy:
    cargo test --workspace --tests -- --ignored

# Writes the golden files of one test program and shows what changed: just golden cargo-toolgen cli
golden crate program:
    TOOLGEN_UPDATE=1 cargo test -p {{crate}} --test {{program}}
    git diff --stat

# Lints, as the checks want them.
lint:
    cargo clippy --workspace --all-targets --all-features -- -D warnings

# Formats.
fmt:
    cargo fmt --all

# The rules of the repository, and the guide.
tidy:
    cargo test -p toolgen-tests --test repository --test guide

# The documentation of the crates.
doc:
    cargo doc -p toolgen-core -p toolgen-runtime -p toolgen-macros -p toolgen --lib --all-features --no-deps --open

# The guide in a browser; needs mdbook.
book:
    mdbook serve docs --open

# The checks before a merge; with --all those of a release.
ci *words:
    .ci/run {{words}}

# A release's files, without publishing: just release 0.1.0
release version:
    .ci/release {{version}}
