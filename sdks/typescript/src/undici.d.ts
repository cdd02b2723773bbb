// The pool alone: the package's main module starts slower, and bun puts another one in its place.
declare module "undici/lib/dispatcher/pool.js" {
  export interface Controller {
    abort(reason: Error): void;
  }

  export interface Handler {
    onRequestStart(controller: Controller): void;
    onResponseStart(controller: Controller, status: number): void;
    onResponseData(controller: Controller, chunk: Buffer): void;
    onResponseEnd(): void;
    onResponseError(controller: Controller, error: Error & { code?: string }): void;
  }

  export default class Pool {
    constructor(origin: string, options: { keepAliveTimeout: number; headersTimeout: number; bodyTimeout: number });
    dispatch(request: { method: string; path: string; headers: string[]; body?: string }, handler: Handler): boolean;
    destroy(): Promise<void>;
  }
}
