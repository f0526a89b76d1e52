//! The tool host: registry, configuration and fronts, as a library and as the program toolhost.
