/** A JSON Schema. */
export type ToolSchema = Readonly<Record<string, unknown>>;

/** The parts of an OpenAPI document that define tools. */
export interface ToolContract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: ToolSchema;
}

interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: ToolSchema }>> };
}

/** The input of a tool: one flat object with the path and query parameters and the body fields of its operation. */
export interface ToolInput {
  readonly type: 'object';
  readonly properties: Record<string, ToolSchema>;
  readonly required: string[];
  readonly additionalProperties: false;
}

/**
 * Derives the input schema of a tool from the operation in the contract, with the same limits and descriptions.
 *
 * @param without Fields to omit.
 * @throws Error if the contract has no such operation.
 */
export function toToolInput(document: ToolContract, operationId: string, without: readonly string[]): ToolInput {
  const { parameters, body } = findOperation(document, operationId);
  const accepted = parameters.filter((each) => each.in !== 'header');
  const properties = new Map<string, ToolSchema>(
    accepted.map(({ name, description, schema }) => [name, { ...one(schema), ...(description && { description }) }]),
  );
  for (const [name, schema] of Object.entries((body?.properties ?? {}) as Record<string, ToolSchema>)) {
    properties.set(name, schema);
  }
  for (const name of without) properties.delete(name);
  const required = [...accepted.filter((each) => each.required).map(({ name }) => name), ...toNames(body?.required)];
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** Tools accept one value for a repeatable query parameter. */
const one = (schema: ToolSchema): ToolSchema => (schema.type === 'array' ? (schema.items as ToolSchema) : schema);

const toNames = (required: unknown): string[] => (Array.isArray(required) ? (required as string[]) : []);

function findOperation(document: ToolContract, operationId: string) {
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path) as Operation[]) {
      if (operation.operationId !== operationId) continue;
      const all = [...((path.parameters ?? []) as unknown[]), ...(operation.parameters ?? [])];
      const [content] = Object.values(operation.requestBody?.content ?? {});
      return {
        parameters: all.map((parameter) => resolve(document, parameter) as Parameter),
        body: content && (resolve(document, content.schema) as ToolSchema),
      };
    }
  }
  throw new Error(`The contract has no operation ${operationId}.`);
}

/** Replaces references by their targets. The operations of tools have no recursive schemas. */
function resolve(document: ToolContract, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(document, item));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Readonly<Record<string, unknown>>;
  const own = Object.fromEntries(Object.entries(rest).map(([name, item]) => [name, resolve(document, item)]));
  return typeof $ref === 'string' ? { ...(resolve(document, follow(document, $ref)) as object), ...own } : own;
}

function follow(document: ToolContract, reference: string): unknown {
  return reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], document);
}
