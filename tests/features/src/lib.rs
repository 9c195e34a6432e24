//! Nothing: what counts is what this depends on. The runtime cannot depend on itself, as its unit tests would then see two of it.
