//! The suite that every store passes.

use crate::subject::fresh;

headcount_queue::conformance_tests!(fresh, sequences: 100);
