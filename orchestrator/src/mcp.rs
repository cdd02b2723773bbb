//! What agents are served over MCP.

#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "the MCP server, which serves it, is still to come"
    )
)]
pub(crate) mod toolset_tools;
