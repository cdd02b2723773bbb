import { readFileSync } from "node:fs";

/** The cases of a file that every SDK has to satisfy. */
export function fixtures(file: string): any[] {
  return JSON.parse(readFileSync(new URL(`../../fixtures/${file}.json`, import.meta.url), "utf8"));
}
