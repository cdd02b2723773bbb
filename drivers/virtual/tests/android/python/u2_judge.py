"""Asks uiautomator2's server what is in `asked`. The first argument is the phone's address."""
import json
import os
import sys

import adbutils
import uiautomator2 as u2

client = adbutils.AdbClient("127.0.0.1", int(os.environ["ANDROID_ADB_SERVER_PORT"]))
client.connect(sys.argv[1])
d = u2.connect(sys.argv[1])
d.app_start("com.example.shop", wait=True)
for line in asked:
    method, params = line.split(" ", 1)
    try:
        d.jsonrpc_call(method, json.loads(params))
    except u2.UiObjectNotFoundError:
        pass
d.stop_uiautomator()
