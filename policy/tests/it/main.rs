//! Integration tests of the policy.

mod cases;
