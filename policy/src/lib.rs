//! What a permission request is answered with: shell grammar, rules, modes, approvals.
