"""An agent's turn with a phone, whatever client it speaks through: as turn.mjs, for Python."""

import json
import os
import re

from jsonschema import Draft202012Validator

TARGET = json.loads(os.environ["PACKTRAIN_TARGET"])
ERA = os.environ["PACKTRAIN_ERA"]

OWN = {"device_list", "device_acquire", "device_release", "snapshot", "screenshot"}
APP = "com.example.shop"


def text(result):
    return "\n".join(block.get("text", "") for block in result["content"])


async def turn(tools, version, call):
    """`tools` and what `call` answers are as they came over the wire."""
    listed = {tool["name"]: tool for tool in tools}
    assert len(listed) == len(tools)
    for name, tool in listed.items():
        assert re.fullmatch("[A-Za-z0-9_-]{1,64}", name), name
        assert tool["description"], name
        assert tool["inputSchema"]["type"] == "object", name
        Draft202012Validator.check_schema(tool["inputSchema"])
    assert OWN <= listed.keys(), listed.keys()
    assert "lease" in listed["launchApp"]["inputSchema"]["required"]

    async def said(name, **arguments):
        result = await call(name, arguments)
        assert not result.get("isError"), f"{name}: {text(result)}"
        return result

    devices = (await said("device_list"))["structuredContent"]["devices"]
    device = next(it["device"] for it in devices if it["platform"] == "android" and it["free"])
    taken = (await said("device_acquire", device=device))["structuredContent"]
    assert taken["device"] == device
    lease = taken["lease"]
    before = (await said("snapshot", lease=lease))["structuredContent"]
    launched = await said("launchApp", lease=lease, appId=APP)
    after = await said("snapshot", lease=lease, since=before["mark"])
    assert after["structuredContent"]["changed"]
    await said("device_release", lease=lease)
    gone = await call("snapshot", {"lease": lease})
    assert gone["isError"] and text(gone).startswith("unknown_lease"), text(gone)

    took = len(listed.keys() - OWN)
    said_last = {"launched": text(launched), "after": text(after)}
    print(json.dumps({"version": version, "device": device, "run": taken["run"], "tools": took, **said_last}))
