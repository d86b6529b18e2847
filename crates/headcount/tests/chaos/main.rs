//! Jobs under faults: real processes, killed and restarted, and a checker that believes nobody.

mod checker;
mod history;

mod mutants;
