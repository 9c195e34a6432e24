//! Several calls of one turn, through a toolbox.

mod exclusive;
mod footprints;
mod hooks;
mod leaks;
mod orders;
mod support;
mod tasks;
mod turns;
