"""An agent's first session, with nothing but Python's own library: it takes a phone, signs in to the example
shop, looks at what has changed, and gives the phone back. A client of your own would use an SDK."""

import json
import re
import subprocess

server = subprocess.Popen(
    ["packtrain", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
)
asked = 0
LOOKS = 500


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
    text = result["content"][0]["text"]
    given = " ".join(f"{name}={value!r}" for name, value in arguments.items() if name != "lease")
    print(f"> {tool} {given}\n{text}\n")
    if result.get("isError"):
        raise SystemExit(1)
    return text, result.get("structuredContent")


def reference(screen, label):
    """`[h147] EditText "Email"`: what stands in brackets is what tools take as `ref`."""
    return re.search(rf'\[(\w+)\] \w+ "{re.escape(label)}"', screen)[1]


ask(
    "initialize",
    protocolVersion="2025-11-25",
    capabilities={},
    clientInfo={"name": "first.py", "version": "1"},
)
send(method="notifications/initialized")

_, taken = call("device_acquire", device="android")
lease = taken["lease"]
call("launchApp", lease=lease, appId="com.example.shop")
screen, read = call("snapshot", lease=lease)
for label, text in (("Email", "ada@example.com"), ("Password", "secret")):
    call("tap", lease=lease, ref=reference(screen, label))
    call("inputText", lease=lease, text=text)
call("tap", lease=lease, ref=reference(screen, "Sign in"))
# An app takes its time: look until it asks.
for _ in range(LOOKS):
    changes, read = call("snapshot", lease=lease, since=read["mark"])
    if '"Allow"' in changes:
        break
call("tap", lease=lease, ref=reference(changes, "Allow"))
call("device_release", lease=lease)

server.stdin.close()
server.wait()
