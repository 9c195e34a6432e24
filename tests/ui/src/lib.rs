//! Nothing but the place of the cases: a package has to have a library or a program.
