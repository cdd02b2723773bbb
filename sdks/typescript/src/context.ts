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
const isText = (value: unknown): value is string => typeof value === "string";
const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** The context in the `_meta` of a request, or `undefined` outside of a session. */
export function fromMeta(meta: unknown): TrailblazeContext | undefined {
  const envelope = isObject(meta) ? meta.trailblaze : undefined;
  if (!isObject(envelope)) return undefined;
  const { baseUrl, sessionId, invocationId, memory } = envelope;
  const device = deviceOf(envelope.device);
  if (!isText(sessionId) || !isText(invocationId) || !device) return undefined;
  const target = targetOf(envelope.target);
  const texts = Object.entries(isObject(memory) ? memory : {}).filter((entry): entry is [string, string] => isText(entry[1]));
  return {
    ...(isText(baseUrl) && { baseUrl }),
    sessionId,
    invocationId,
    device,
    ...(target && { target }),
    memory: new Memory(Object.fromEntries(texts)),
  };
}

function deviceOf(value: unknown): Device | undefined {
  if (!isObject(value)) return undefined;
  const { platform, widthPixels, heightPixels, driverType } = value;
  if (platform !== "android" && platform !== "ios" && platform !== "web") return undefined;
  if (typeof widthPixels !== "number" || typeof heightPixels !== "number" || !isText(driverType)) return undefined;
  const [id, instanceId] = [value.id ?? value.instanceId, value.instanceId ?? value.id];
  return {
    ...(isText(id) && { id }),
    ...(isText(instanceId) && { instanceId }),
    platform,
    widthPixels,
    heightPixels,
    driverType,
  };
}

function targetOf(value: unknown): Target | undefined {
  if (!isObject(value)) return undefined;
  const { id, appIds, appId, displayName, baseUrls, resolvedBaseUrl } = value;
  if (!isText(id) || !areTexts(appIds)) return undefined;
  return {
    id,
    appIds,
    ...(isText(appId) && { appId }),
    ...(isText(displayName) && { displayName }),
    ...(areTexts(baseUrls) && { baseUrls }),
    ...(isText(resolvedBaseUrl) && { resolvedBaseUrl }),
  };
}
