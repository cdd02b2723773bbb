// Imported before a program of Node's: each of its requests carries $PACKTRAIN_TEST_TOKEN, which the
// program itself has no way to send. Everything else of a request stays as it is.
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { getGlobalDispatcher, setGlobalDispatcher } from "undici";

const authorization = ["authorization", `Bearer ${process.env.PACKTRAIN_TEST_TOKEN}`];

// Names and values in turn, pairs, or an object.
const flat = (headers) => Array.isArray(headers) ? headers
  : headers?.[Symbol.iterator] ? [...headers].flat() : Object.entries(headers ?? {}).flat();
setGlobalDispatcher(getGlobalDispatcher().compose((dispatch) => (options, handler) =>
  dispatch({ ...options, headers: [...flat(options.headers), ...authorization] }, handler)));

const { request } = http;
http.request = (...args) => {
  const begun = request(...args);
  begun.setHeader(...authorization);
  return begun;
};
syncBuiltinESMExports();
