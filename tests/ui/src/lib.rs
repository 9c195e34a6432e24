//! An empty library, because a package needs a library or a program.
