/** A JSON Schema, as far as it is looked at here. */
export type Schema = Readonly<Record<string, unknown>>;

/** The parts of an OpenAPI document that tools are made from. */
export interface ContractDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** What a tool takes: one flat object of what the operation takes in its path, its query and its body. */
export interface ToolInput {
  readonly type: 'object';
  readonly properties: Record<string, Schema>;
  readonly required: string[];
  readonly additionalProperties: false;
}

/**
 * Makes the schema of a tool's input from the operation in the contract, so
 * that agents read the same bounds and descriptions as everybody.
 *
 * @param without Fields that the tool does not offer.
 * @throws Error when the contract has no such operation.
 */
export function toToolInput(document: ContractDocument, operationId: string, without: readonly string[]): ToolInput {
  const { parameters, body } = findOperation(document, operationId);
  const taken = parameters.filter((each) => each.in !== 'header');
  const properties = new Map<string, Schema>(
    taken.map(({ name, description, schema }) => [name, { ...one(schema), ...(description && { description }) }]),
  );
  for (const [name, schema] of Object.entries((body?.properties ?? {}) as Record<string, Schema>)) {
    properties.set(name, schema);
  }
  for (const name of without) properties.delete(name);
  const required = [...taken.filter((each) => each.required).map(({ name }) => name), ...toNames(body?.required)];
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** Of what a query may repeat, a tool takes one. */
const one = (schema: Schema): Schema => (schema.type === 'array' ? (schema.items as Schema) : schema);

const toNames = (required: unknown): string[] => (Array.isArray(required) ? (required as string[]) : []);

function findOperation(document: ContractDocument, operationId: string) {
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path) as Operation[]) {
      if (operation.operationId !== operationId) continue;
      const all = [...((path.parameters ?? []) as unknown[]), ...(operation.parameters ?? [])];
      const [content] = Object.values(operation.requestBody?.content ?? {});
      return {
        parameters: all.map((parameter) => resolve(document, parameter) as Parameter),
        body: content && (resolve(document, content.schema) as Schema),
      };
    }
  }
  throw new Error(`The contract has no operation ${operationId}.`);
}

/** Puts what references point to in their place; contracts are trees where this is used. */
function resolve(document: ContractDocument, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(document, item));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Readonly<Record<string, unknown>>;
  const own = Object.fromEntries(Object.entries(rest).map(([name, item]) => [name, resolve(document, item)]));
  return typeof $ref === 'string' ? { ...(resolve(document, follow(document, $ref)) as object), ...own } : own;
}

function follow(document: ContractDocument, reference: string): unknown {
  return reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], document);
}
