import { Memory } from "./memory.js";

/** Where a device's app runs. */
export type Platform = "android" | "ios" | "web";

/** The device that a call is for. */
export interface Device {
  /** Its name, as the serial number or the UDID. */
  id?: string;
  /** The same as `id`. */
  instanceId?: string;
  platform: Platform;
  widthPixels: number;
  heightPixels: number;
  /** The driver, as in `supportedDrivers`. */
  driverType: string;
}

/** The app under test. */
export interface Target {
  id: string;
  /** Package names or bundle ids. */
  appIds: string[];
  /** The first of `appIds`. */
  appId?: string;
  displayName?: string;
  baseUrls?: string[];
  resolvedBaseUrl?: string;
  /** The app to use, or else the default. */
  resolveAppId(options?: { defaultAppId?: string }): string | undefined;
  /** The base URL to use, or else the default. */
  resolveBaseUrl(options?: { defaultBaseUrl?: string }): string | undefined;
}

/** What a call is for: `_meta.trailblaze` of the request. */
export interface TrailblazeContext {
  /** Where callbacks go. */
  baseUrl?: string;
  sessionId: string;
  /** Worth something only while the call is in flight. */
  invocationId: string;
  device: Device;
  /** `undefined` when no app is known. */
  target?: Target;
  memory: Memory;
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown) => typeof value === "string";
const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isNumber = (value: unknown) => typeof value === "number";
const isPlatform = (value: unknown) => value === "android" || value === "ios" || value === "web";

/** The fields that are as they should be; `undefined` when one that has to be is not. */
function fieldsOf<T>(value: unknown, required: Record<string, (field: unknown) => boolean>, optional: Record<string, (field: unknown) => boolean>): T | undefined {
  if (!isObject(value) || !Object.entries(required).every(([name, is]) => is(value[name]))) return undefined;
  const fields = Object.entries({ ...required, ...optional }).filter(([name, is]) => is(value[name]));
  return Object.fromEntries(fields.map(([name]) => [name, value[name]])) as T;
}

/** The context in the `_meta` of a request, or `undefined` outside of a session. */
export function fromMeta(meta: unknown): TrailblazeContext | undefined {
  const envelope = isObject(meta) ? meta.trailblaze : undefined;
  if (!isObject(envelope)) return undefined;
  const ids = fieldsOf<TrailblazeContext>(envelope, { sessionId: isText, invocationId: isText }, { baseUrl: isText });
  const device = fieldsOf<Device>(
    envelope.device,
    { platform: isPlatform, widthPixels: isNumber, heightPixels: isNumber, driverType: isText },
    { id: isText, instanceId: isText },
  );
  if (!ids || !device) return undefined;
  const id = device.id ?? device.instanceId;
  const target = fieldsOf<Target>(envelope.target, { id: isText, appIds: areTexts }, { appId: isText, displayName: isText, baseUrls: areTexts, resolvedBaseUrl: isText });
  const texts = Object.entries(isObject(envelope.memory) ? envelope.memory : {}).filter(([, value]) => isText(value));
  return {
    ...ids,
    device: id === undefined ? device : { ...device, id, instanceId: device.instanceId ?? id },
    ...(target && { target: withResolvers(target) }),
    memory: new Memory(Object.fromEntries(texts) as Record<string, string>),
  };
}

/** The functions are not enumerable: a target that is printed is its data. */
function withResolvers(target: Target): Target {
  const resolvers = {
    resolveAppId: (options?: { defaultAppId?: string }) => target.appId || target.appIds[0] || options?.defaultAppId?.trim() || undefined,
    resolveBaseUrl: (options?: { defaultBaseUrl?: string }) => target.resolvedBaseUrl || target.baseUrls?.[0] || options?.defaultBaseUrl?.trim() || undefined,
  };
  for (const [name, value] of Object.entries(resolvers)) Object.defineProperty(target, name, { value });
  return target;
}
