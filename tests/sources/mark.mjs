// A tool source in plain Node on standard input and output: types a word twenty times on the device
// of its call.
import { must, serve } from "./raw.mjs";

const inputSchema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
serve([{
  name: "mark_node",
  inputSchema,
  async call({ args: { word }, on }) {
    for (let n = 0; n < 20; n++) await must(on, "inputText", { text: `${word}n${n};`, hideKeyboardAfter: false });
    return `${process.pid}`;
  },
}]);
