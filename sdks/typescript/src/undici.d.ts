// The pool alone: the package's main module starts slower, and bun puts another one in its place.
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
