"""Buys a coffee in the example shop with facebook-wda, checking what it sees on the way."""

import sys

import wda

phone = wda.Client(sys.argv[1])
assert phone.is_ready() and phone.status()["state"] == "success"
app = phone.session("com.example.shop")
assert app.window_size() == (393, 852) and app.scale == 3
assert app.app_current()["bundleId"] == "com.example.shop"

app(id="email").set_text("ann@example.com")
app(name="password").set_text("wrong")
app(label="Sign in").tap()
assert app(id="error").wait(5).text == "Wrong email or password"
password = app(type="SecureTextField")
password.clear_text()
password.set_text("secret")
app(labelContains="Sign").click()

assert app.alert.wait(5)
assert "Would Like to Send You Notifications" in app.alert.text
assert app.alert.buttons() == ["Don’t Allow", "Allow"]
app.alert.accept()

assert app(classChain="**/XCUIElementTypeNavigationBar").exists
assert len(app(className="XCUIElementTypeCell").find_elements()) == 40
row = app(xpath="//XCUIElementTypeCell[2]//XCUIElementTypeStaticText[1]").get()
assert (row.text, row.visible, row.enabled) == ("Cappuccino 2", True, True)
app.swipe_up()
app.swipe(0.5, 0.3, 0.5, 0.8)
app.tap(*row.bounds.center)
assert app(name="product_name").text == "Cappuccino 2"
app(id="picture").pinch(2, 1)
assert app(id="zoomed").text == "Zoomed 2.00"
app(predicate="name == 'more' AND enabled == 1").tap()
assert app(id="quantity").label == "Quantity 2"
app(id="add_to_cart").tap()
assert app(id="total").text == "Total $7.60"

app(id="checkout").tap()
app(id="full_name").set_text("Ann")
app(id="address").set_text("1 Main Street\n")
express = app(id="express")
express.scroll()
express.tap()
assert app(id="express").value == "1"
app(id="place_order").tap()
assert app.alert.wait(5) and app.alert.text.startswith("Place order?")
app.alert.click("Place order")
assert app(id="message").wait(5).text.endswith("on its way, Ann.")

app.orientation = wda.LANDSCAPE
assert (app.orientation, app.window_size()) == ("LANDSCAPE", (852, 393))
app.orientation = wda.PORTRAIT
assert app.screenshot().size == (1179, 2556)
assert app.source().startswith("<?xml") and app.source(format="json")["type"] == "Application"
assert app.source(accessible=True)["type"] == "Application"

app.home()
assert app.app_current()["bundleId"] == "com.apple.springboard"
assert app.app_state("com.example.shop").value == 3
app.app_activate("com.example.shop")
assert app.app_state("com.example.shop").value == 4
phone.lock()
assert phone.locked()
phone.unlock()
assert not phone.locked()
try:
    app(id="nowhere").get(timeout=0.2)
    raise AssertionError("an element that is not there was found")
except wda.WDAElementNotFoundError:
    pass
app.close()
print("bought")
