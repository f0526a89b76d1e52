//! How long the known hosts wait for the result of a call.

use std::time::Duration;

/// The limit for a host that is not known: below the 60 s that MCP SDKs wait by default.
const UNKNOWN: Duration = Duration::from_secs(50);

/// Hosts by the name that they give in `clientInfo`, with a limit safely below their own.
///
/// Claude Code moves a call that takes two minutes to the background, Codex gives up after 300 s, Gemini CLI after ten
/// minutes (their documentation and behaviour, November 2026).
const KNOWN: [(&str, Duration); 3] = [
    ("claude-code", Duration::from_secs(110)),
    ("codex-mcp-client", Duration::from_secs(240)),
    ("gemini-cli-mcp-client", Duration::from_secs(540)),
];

/// Returns the longest wait that a host with this name surely allows.
pub(crate) fn wait_limit(name: Option<&str>) -> Duration {
    KNOWN.iter().find(|(known, _)| Some(*known) == name).map_or(UNKNOWN, |(_, limit)| *limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_hosts_by_their_exact_name() {
        assert_eq!(wait_limit(Some("claude-code")), Duration::from_secs(110));
        assert_eq!(wait_limit(Some("codex-mcp-client")), Duration::from_secs(240));
        assert_eq!(wait_limit(Some("gemini-cli-mcp-client")), Duration::from_secs(540));
        assert_eq!(wait_limit(Some("opencode")), UNKNOWN);
        assert_eq!(wait_limit(None), UNKNOWN);
    }
}
