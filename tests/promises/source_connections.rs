//! Connections to tool sources over HTTP.

use crate::lab;

/// A server that closes a connection that was idle for a while, and gets a request at that moment.
const SERVER: &str = r#"
import http from "node:http";
const port = Number(process.argv[process.argv.indexOf("--port") + 1]);
const answered = new WeakMap();
const results = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } },
  "tools/list": { tools: [{ name: "acme_x", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "done" }] },
};
http.createServer((request, response) => {
  // Closed for idleness while the request was on its way.
  if (Date.now() - (answered.get(request.socket) ?? Date.now()) > 2500) return request.socket.destroy();
  let body = "";
  request.on("data", (part) => { body += part; }).on("end", () => {
    const { id, method } = JSON.parse(body || "{}");
    const status = request.method !== "POST" ? 405 : id === undefined ? 202 : 200;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(status === 200 ? JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }) : "");
    answered.set(request.socket, Date.now());
  });
}).listen({ port, host: "127.0.0.1" }).keepAliveTimeout = 60_000;
"#;

#[test]
fn a_connection_that_its_server_is_about_to_close_is_not_used() {
    let lab = lab();
    let trail = "trail:\n  - step: x\n    recording:\n      android:\n        - acme_x: {}\n        - wait: { timeToWaitInSeconds: 3 }\n        - acme_x: {}\n";
    lab.write("a.trail.yaml", trail)
        .write("server.mjs", SERVER)
        .write(
            "packtrain.yaml",
            "devices: { virtual: { profile: fast } }\nmcpServers: [{ script: server.mjs, transport: http }]\n",
        );
    let arguments = [
        "run",
        "a.trail.yaml",
        "-d",
        "virtual:android",
        "--screenshots=none",
    ];
    lab.run(&arguments).expect(0);
}
