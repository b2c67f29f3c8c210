import type { Contract, Operation } from './contract.js';
import type { SchemaObject } from './document.js';
import { camel } from './names.js';

/** The names of the exported functions of `validators.js`. */
export interface ValidatorNames {
  /** `createToken body` → `createTokenBody`. The parts are params, query, headers, body and limits (of the body). */
  readonly requests: ReadonlyMap<string, string>;
  /** `createToken 201` → `createdTokenSchema`. Responses with the same schema share a function. */
  readonly responses: ReadonlyMap<string, string>;
  readonly schemas: readonly NamedSchema[];
}

export interface NamedSchema {
  readonly name: string;
  /** `request` fills in defaults, `response` changes nothing, and `limits` validates only types and sizes. */
  readonly direction: 'limits' | 'request' | 'response';
  readonly schema: SchemaObject;
}

const PARTS = { path: 'params', query: 'query', header: 'headers' } as const;

/** Returns the names and schemas of the validators that a contract needs. */
export function nameValidators({ operations }: Contract): ValidatorNames {
  const requests = new Map<string, string>();
  const responses = new Map<string, string>();
  const schemas = new Map<string, NamedSchema>();
  for (const operation of operations) {
    for (const [part, schema] of listRequestSchemas(operation)) {
      const name = `${operation.id}${part.charAt(0).toUpperCase()}${part.slice(1)}`;
      requests.set(`${operation.id} ${part}`, name);
      schemas.set(name, { name, direction: part === 'limits' ? 'limits' : 'request', schema });
    }
    for (const { status, contents } of operation.responses) {
      const schema = contents.find(({ kind }) => kind === 'json' || kind === 'events')?.schema;
      if (schema === undefined) continue;
      const name = nameResponse(operation.id, status, schema);
      responses.set(`${operation.id} ${status}`, name);
      schemas.set(name, { name, direction: 'response', schema });
    }
  }
  return { requests, responses, schemas: [...schemas.values()] };
}

function nameResponse(id: string, status: number, schema: SchemaObject): string {
  const ref = typeof schema === 'object' && Object.keys(schema).length === 1 ? schema.$ref : undefined;
  return ref === undefined ? `${id}Response${status}` : `${camel(ref.split('/').at(-1) ?? '')}Schema`;
}

function listRequestSchemas({ parameters, body, responses }: Operation): [part: string, schema: SchemaObject][] {
  const found: [string, SchemaObject][] = (['path', 'query', 'header'] as const).flatMap((place) => {
    const members = parameters.filter((parameter) => parameter.in === place);
    if (members.length === 0) return [];
    const properties = Object.fromEntries(members.map(({ name, schema }) => [name, schema]));
    const required = members.filter((parameter) => parameter.required).map(({ name }) => name);
    return [[PARTS[place], { type: 'object', properties, required }]];
  });
  const json = body?.contents.find(({ kind }) => kind === 'json')?.schema;
  if (json === undefined || body?.isDeferred) return found;
  // If an operation distinguishes 400 from 422, size limits are validated before the rest of the body.
  const hasLimits = [400, 422].every((status) => responses.some((response) => response.status === status));
  return [...found, ['body', json], ...(hasLimits ? [['limits', json] as [string, SchemaObject]] : [])];
}
