/** Schemas of arguments and results: zod, or JSON Schema as it is. */

/** What zod 4.2 and other libraries give: a schema that validates and can say itself as JSON Schema. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: Record<"input" | "output", (options: { target: "draft-2020-12" }) => Record<string, unknown>> | undefined;
  };
}

interface Validation<Output> {
  readonly value?: Output;
  readonly issues?: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] | undefined;
}

/** A schema per argument. */
export type Shape = { readonly [name: string]: StandardSchema<any> };

/** A JSON Schema of an object. */
export type JsonSchema = { readonly type: "object"; readonly [key: string]: unknown };

/** What `inputSchema` and `outputSchema` take. */
export type AnySchema = Shape | StandardSchema<any> | JsonSchema;

type OutputOf<S> = S extends { readonly "~standard": { readonly types?: { readonly output: infer O } | undefined } } ? O : unknown;
type OptionalKeys<S> = { [K in keyof S]: undefined extends OutputOf<S[K]> ? K : never }[keyof S];
type Flat<T> = { [K in keyof T]: T[K] };

/** The arguments that a schema leads to. */
export type ArgumentsOf<S> = S extends { readonly "~standard": unknown }
  ? OutputOf<S>
  : S extends JsonSchema
    ? Record<string, any>
    : Flat<{ [K in Exclude<keyof S, OptionalKeys<S>>]: OutputOf<S[K]> } & { [K in OptionalKeys<S>]?: OutputOf<S[K]> }>;

/** The JSON Schema validator of either MCP SDK. */
export interface JsonSchemaValidator {
  getValidator(schema: object): (value: unknown) => { valid: boolean; errorMessage?: string | undefined };
}

/** A schema that is ready: as it is advertised, and as it checks. */
export interface Schema {
  json: Record<string, unknown>;
  /** Returns the value as the schema makes it, or throws an `Error` that says what is wrong. */
  parse(value: unknown): unknown;
}

const isStandard = (value: unknown): value is StandardSchema => typeof value === "object" && value !== null && "~standard" in value;

/** Makes a schema ready. `validator` is for JSON Schemas, which are not checked without one. */
export async function prepare(schema: AnySchema, side: "input" | "output", validator: JsonSchemaValidator | undefined): Promise<Schema> {
  if (!isStandard(schema)) {
    if (!Object.keys(schema).length) return ofJsonSchema({ type: "object", properties: {} }, undefined);
    if (!Object.values(schema).every(isStandard)) return ofJsonSchema(schema as JsonSchema, validator);
    const { z } = await import("zod");
    return prepare(z.object(schema as Record<string, any>) as StandardSchema, side, validator);
  }
  const standard = schema["~standard"];
  if (!standard.jsonSchema) throw new TypeError(`schemas of ${standard.vendor} need a newer version (zod: 4.2), or give a JSON Schema`);
  return {
    json: { type: "object", ...standard.jsonSchema[side]({ target: "draft-2020-12" }) },
    async parse(value) {
      const result = await standard.validate(value);
      if (!result.issues) return result.value;
      throw new Error(result.issues.map(({ message, path }) => (path?.length ? `${path.map(keyOf).join(".")}: ${message}` : message)).join("; "));
    },
  };
}

const keyOf = (part: unknown) => String(typeof part === "object" && part !== null ? (part as { key: unknown }).key : part);

function ofJsonSchema(schema: JsonSchema, validator: JsonSchemaValidator | undefined): Schema {
  const check = validator?.getValidator(schema);
  return {
    json: schema,
    parse(value) {
      const result = check?.(value);
      if (result && !result.valid) throw new Error(result.errorMessage ?? "the value does not match the schema");
      return value;
    },
  };
}
