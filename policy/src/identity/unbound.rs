//! Systems on which nothing is bound: there is nothing to look at.

use std::path::Path;

use tool_api::CommandEffect;

use crate::analysis::CommandAnalysis;

/// Nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan;

impl Plan {
    pub(crate) fn new(_effect: &CommandEffect, _analysis: &CommandAnalysis, _home: Option<&Path>) -> Self {
        Self
    }
}
