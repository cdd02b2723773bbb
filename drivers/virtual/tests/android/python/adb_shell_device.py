"""What adb-shell finds on a virtual phone, without an adb server. The first argument is the
phone's address."""
import io
import os
import sys
import tempfile

from adb_shell.adb_device import AdbDeviceTcp
from adb_shell.auth.keygen import keygen
from adb_shell.auth.sign_pythonrsa import PythonRSASigner
from adb_shell.exceptions import AdbCommandFailureException, PushFailedError

host, port = sys.argv[1].split(":")
with tempfile.TemporaryDirectory() as folder:
    key = os.path.join(folder, "adbkey")
    keygen(key)
    with open(key + ".pub") as public, open(key) as private:
        signer = PythonRSASigner(public.read(), private.read())

device = AdbDeviceTcp(host, int(port), default_transport_timeout_s=60)
assert device.connect(rsa_keys=[signer], auth_timeout_s=60)
assert device.shell("getprop ro.product.model") == "Pixel 9\n"
# Without shell v2 both outputs arrive as one.
assert device.shell("echo out; echo err >&2") == "out\nerr\n"
assert device.exec_out("screencap -p", decode=False).startswith(b"\x89PNG\r\n\x1a\n")
lines = "".join(device.streaming_shell("seq 1 20000")).split()
assert lines == [str(number) for number in range(1, 20001)]

content = os.urandom(300_000)
device.push(io.BytesIO(content), "/data/local/tmp/x.bin", mtime=1_700_000_000)
mode, size, mtime = device.stat("/data/local/tmp/x.bin")
assert (mode & 0o170000, size, mtime) == (0o100000, len(content), 1_700_000_000)
pulled = io.BytesIO()
device.pull("/data/local/tmp/x.bin", pulled)
assert pulled.getvalue() == content
assert device.stat("/data/local/tmp/no.such") == (0, 0, 0)
names = [bytes(entry.filename).decode() for entry in device.list("/data/local/tmp")]
assert names == [".", "..", "x.bin"], names
assert device.list("/no.such") == []
try:
    device.pull("/data/local/tmp/no.such", io.BytesIO())
    raise AssertionError("a file that is not there was pulled")
except AdbCommandFailureException as error:
    assert "open failed: No such file or directory" in str(error), error
try:
    device.push(io.BytesIO(b"x"), "/system/x")
    raise AssertionError("a file was pushed to where nobody may write")
except PushFailedError as error:
    assert "create file: Read-only file system" in str(error), error

device.close()
