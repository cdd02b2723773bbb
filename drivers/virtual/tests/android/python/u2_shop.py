"""A user of uiautomator2 signs in and orders. The first argument is the phone's address."""
import os
import sys

import adbutils
import uiautomator2 as u2

client = adbutils.AdbClient("127.0.0.1", int(os.environ["ANDROID_ADB_SERVER_PORT"]))
client.connect(sys.argv[1])
d = u2.connect(sys.argv[1])
shop = "com.example.shop"

assert d.info["displayWidth"] == 1080 and d.info["screenOn"], d.info
assert d.device_info["model"] == "Pixel 9", d.device_info
d.app_start(shop, wait=True)
assert d.app_current()["package"] == shop
assert shop in d.app_list_running()

frame = d(className="android.widget.FrameLayout")
assert frame.child_by_text("Sign in", className="android.widget.Button").info["text"] == "Sign in"
assert frame.child_by_instance(0, className="android.widget.Button").info["className"] == "android.widget.Button"
d.clear_toast()
assert d.last_toast is None
d.swipe_points([(540, 700), (540, 1000), (540, 1400)], 0.1)
d(text="Sign in").drag_to(540, 1500, duration=0.1)

d(resourceId=f"{shop}:id/email").set_text("ann@example.com")
d(resourceId=f"{shop}:id/password").set_text("guess")
d(text="Sign in").click()
assert d(text="Wrong email or password").wait(timeout=5)
d(resourceId=f"{shop}:id/password").clear_text()
d(resourceId=f"{shop}:id/password").set_text("secret")
d(text="Sign in").click()
assert d(resourceIdMatches=".*permission_allow_button").wait(timeout=5)
d(text="Allow").click()
assert d(text="Allow").wait_gone(timeout=5)

assert d.xpath('//*[@text="Espresso 1"]').wait(timeout=5)
assert d(text="Add", className="android.widget.Button").count > 5
products = d(resourceId=f"{shop}:id/products")
assert products.info["scrollable"]
products.child(text="Add", instance=2).click()
assert d(textStartsWith="Cart").get_text() == "Cart (1)"
assert products.scroll.to(text="Lemonade 40")
d(text="Lemonade 40").click()
picture = d(resourceId=f"{shop}:id/picture")
picture.pinch_out(percent=50, steps=20)
assert d(textStartsWith="Zoomed ").wait(timeout=5)
left, top, right, bottom = picture.bounds()
middle = (top + bottom) // 2
zoom = float(d(resourceId=f"{shop}:id/zoomed").get_text().split()[1])
d().gesture((200, middle), (800, middle), (350, middle), (650, middle), steps=30)
assert d(text=f"Zoomed {zoom / 2:.2f}").wait(timeout=5)
picture.pinch_in(percent=100, steps=10)
assert d(textStartsWith="Zoomed ").wait_gone(timeout=5)
d(description="One more").click()
assert d(resourceId=f"{shop}:id/quantity").get_text() == "2"
d(text="Add to cart").click()
assert d(text="Total $9.50").wait(timeout=5)
assert d(text="1 x Green tea 3").exists
d(text="Checkout").click()
d(text="Full name").set_text("Ann")
d(resourceId=f"{shop}:id/address").set_text("Main Street 1, 10115 Berlin, Ünter den Linden")
switch = d(text="Express delivery")
assert not switch.info["checked"]
switch.click()
assert switch.info["checked"]
d(text="Place order").click()
assert d(resourceId="android:id/alertTitle").get_text(timeout=5) == "Place order?"
d(resourceId="android:id/button1").click()
assert d(text="Your order is on its way, Ann.").wait(timeout=5)

assert d.screenshot().size == (1080, 2424)
tree = d.dump_hierarchy()
assert tree.count("<node") > 4 and 'visible-to-user="true"' in tree
d.press("back")
assert d(text="Products").wait(timeout=5)
d.press("home")
assert d.app_current()["package"] != shop

try:
    d(text="no such thing").click(timeout=0.1)
    raise AssertionError("it was found")
except u2.UiObjectNotFoundError:
    pass

d.set_clipboard("copied")
assert d.clipboard == "copied"
d.set_orientation("l")
assert d.window_size() == (2424, 1080)
d.set_orientation("n")
d.screen_off()
assert not d.info["screenOn"]
d.screen_on()
d.open_url("https://example.org/")
assert d(text="https://example.org/").wait(timeout=5)
assert d.shell("echo hi").output == "hi\n"
d.app_stop(shop)
d.stop_uiautomator()
