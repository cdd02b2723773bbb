"""What adbutils finds on a virtual phone. The first argument is the phone's address."""
import io
import os
import sys
import tempfile

import adbutils

client = adbutils.AdbClient("127.0.0.1", int(os.environ["ANDROID_ADB_SERVER_PORT"]))
assert "connected" in client.connect(sys.argv[1])
device = client.device(serial=sys.argv[1])

assert device.prop.model == "Pixel 9"
assert device.prop.device == "tokay"
assert device.window_size() == (1080, 2424), device.window_size()
assert device.rotation() == 0
assert device.is_screen_on()
assert device.battery().level == 100
assert device.wlan_ip().startswith("10.0.")
assert device.shell("echo hello") == "hello"
assert device.shell2("false").returncode == 1
split = device.shell2("echo out; echo err >&2; sh -c 'exit 4'", v2=True)
assert (split.stdout, split.stderr, split.returncode) == ("out\n", "err\n", 4), split
assert "com.example.shop" in device.list_packages()
assert device.list_packages(["-3"]) == ["com.example.shop"]

device.app_start("com.example.shop")
current = device.app_current()
assert current.package == "com.example.shop", current
info = device.app_info("com.example.shop")
assert info.version_name == "2.4.1", info
tree = device.dump_hierarchy()
assert 'text="Sign in"' in tree, tree
device.click(540, 680)
device.send_keys("ann@example.com")
assert 'text="ann@example.com"' in device.dump_hierarchy()
device.keyevent("BACK")
device.swipe(540, 1800, 540, 400, 0.1)

content = os.urandom(300_000)
device.sync.push(io.BytesIO(content), "/data/local/tmp/x.bin", check=True)
stat = device.sync.stat("/data/local/tmp/x.bin")
assert stat.size == len(content)
assert device.sync.read_bytes("/data/local/tmp/x.bin") == content
with tempfile.NamedTemporaryFile() as file:
    assert device.sync.pull("/data/local/tmp/x.bin", file.name) == len(content)
names = [entry.path for entry in device.sync.list("/data/local/tmp")]
assert "x.bin" in names, names
assert device.sync.exists("/data/local/tmp/x.bin")
assert not device.sync.exists("/data/local/tmp/no.such")

assert device.framebuffer().size == (1080, 2424)
picture = device.screenshot()
assert picture.size == (1080, 2424)

port = device.forward_port("localabstract:nobody")
assert any(item.local == f"tcp:{port}" for item in client.device(sys.argv[1]).forward_list())
device.reverse("tcp:7000", "tcp:7001")
assert [(item.remote, item.local) for item in device.reverse_list()] == [("tcp:7000", "tcp:7001")]

device.app_stop("com.example.shop")
assert device.app_current().package != "com.example.shop"
device.app_clear("com.example.shop")
device.uninstall("com.example.shop")
assert device.list_packages(["-3"]) == []
