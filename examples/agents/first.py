"""An agent's first session, with nothing but Python's own library: it takes a phone with the example shop
open, signs in, and gives the phone back. A client of your own would use an SDK."""

import json
import re
import subprocess

server = subprocess.Popen(
    ["packtrain", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
)
asked = 0


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin)


def ask(method, **params):
    global asked
    asked += 1
    send(id=asked, method=method, params=params)
    for line in server.stdout:
        message = json.loads(line)
        # Notifications come in between.
        if message.get("id") == asked:
            return message["result"]
    raise SystemExit("the server hung up")


def call(tool, **arguments):
    result = ask("tools/call", name=tool, arguments=arguments)
    text = "\n".join(part["text"] for part in result["content"])
    given = " ".join(f"{name}={value!r}" for name, value in arguments.items() if name != "lease")
    print(f"> {tool} {given}\n{text}\n")
    if result.get("isError"):
        raise SystemExit(1)
    return text, result.get("structuredContent")


def reference(screen, label):
    """`[h147] EditText "Email"`: what stands in brackets is what tools take as `ref`."""
    return re.search(rf'\[(\w+)\] \w+ "{re.escape(label)}"', screen)[1]


def tap(screen, label):
    return {"action": "tap", "ref": reference(screen, label)}


def typing(screen, label, text):
    return {"action": "type", "ref": reference(screen, label), "value": text}


ask(
    "initialize",
    protocolVersion="2025-11-25",
    capabilities={},
    clientInfo={"name": "first.py", "version": "1"},
)
send(method="notifications/initialized")

screen, taken = call("device_acquire", device="android", open="com.example.shop")
lease = taken["lease"]
signing_in = [
    typing(screen, "Email", "ada@example.com"),
    typing(screen, "Password", "secret"),
    tap(screen, "Sign in"),
]
screen, _ = call("act", lease=lease, actions=signing_in)
call("act", lease=lease, actions=[tap(screen, "Allow")])
call("device_release", lease=lease)

server.stdin.close()
server.wait()
