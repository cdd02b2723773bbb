import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CommandFailedError, DeviceUnavailableError, ToolCallError, TrailblazeClient } from "../src/index.js";
import { mockClient, mockContext } from "../src/testing.js";

describe("mockContext", () => {
  it("is an Android emulator, unless told otherwise", () => {
    assert.equal(mockContext().device.platform, "android");
    const context = mockContext({ device: { platform: "web", driverType: "playwright-native" }, memory: { who: "Ada" }, target: { id: "shop", appIds: [] } });
    assert.equal(context.device.platform, "web");
    assert.equal(context.device.widthPixels, 1080);
    assert.equal(context.memory.get("who"), "Ada");
    assert.deepEqual(context.target, { id: "shop", appIds: [] });
  });
});

describe("mockClient", () => {
  it("records commands and tools in order, with the SDK's own values", async () => {
    const client = mockClient();
    assert(client instanceof TrailblazeClient);
    await client.tap({ text: "Sign in" });
    await client.mobile.swipe("up", { durationMs: 300 });
    await client.tools.shop_signIn!({ user: "Ada" });
    await client.callTool("shop_signOut");
    assert.deepEqual(client.calls, [
      { kind: "command", name: "tap", args: { text: "Sign in" } },
      { kind: "command", name: "mobile.swipe", args: { direction: "up", durationMs: 300 } },
      { kind: "tool", name: "shop_signIn", args: { user: "Ada" } },
      { kind: "tool", name: "shop_signOut", args: {} },
    ]);
  });

  it("returns what stubs say, and what is empty without one", async () => {
    const client = mockClient({
      commands: { isVisible: ({ text }: any) => text === "Save", getElementCount: 3, captureScreen: { text: "button Save" }, "web.evaluateJs": null },
      tools: { who: "Ada", list: async () => ({ items: [1] }) },
    });
    assert.equal(await client.isVisible({ text: "Save" }), true);
    assert.equal(await client.isVisible({ text: "Other" }), false);
    assert.equal(await client.getElementCount({ text: "Row" }), 3);
    assert.equal(await client.web.evaluateJs("x"), null);
    assert.equal(await client.hasText("x"), false);
    assert.equal(await client.getElementText("x"), undefined);
    const screen = await client.captureScreen();
    assert.equal(screen.text, "button Save");
    assert.deepEqual(await screen.tree(), {});
    assert.equal(await client.tools.who!(), "Ada");
    assert.deepEqual(await client.tools.list!(), { items: [1] });
    assert.deepEqual(await client.callTool("other"), { type: "call_tool_result", success: true });
  });

  it("fails as a device would, or with the error given", async () => {
    const gone = new DeviceUnavailableError("gone", "Tap", "unavailable");
    const client = mockClient({ commands: { tap: new Error("not visible") }, tools: { pay: new Error("no money") } });
    await assert.rejects(client.tap({ text: "x" }), (error: any) => error instanceof CommandFailedError && error.message === "not visible");
    await assert.rejects(client.tools.pay!(), (error: any) => error instanceof ToolCallError && error.tool === "pay" && error.message === "no money");
    client.stubCommand("tap", gone);
    client.stubTool("pay", "paid");
    await assert.rejects(client.tap({ text: "x" }), gone);
    assert.equal(await client.tools.pay!(), "paid");
  });
});
