"""Serves the tools of this folder. Packtrain starts it; more tools are registered here."""

from fastmcp import FastMCP
from packtrain import run, trailblaze_tool

import __NAME__

mcp = FastMCP("__NAME__")
mcp.tool(trailblaze_tool(__NAME__.__NAME__))

if __name__ == "__main__":
    run(mcp)
