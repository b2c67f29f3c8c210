import { pascal } from '../output.js';

/** A contract in the form that the code writers use. */
export interface Contract {
  readonly service: string;
  readonly title: string;
  /** The prefix of every path, such as `/secrets`, or an empty string. */
  readonly basePath: string;
  readonly revision: string;
  readonly schemes: Readonly<Record<string, CallerKind>>;
  readonly tags: readonly Tag[];
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, SchemaObject>>;
}

interface Tag {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

export interface Operation {
  readonly id: string;
  /** `id` with a capital letter, the prefix of derived types. */
  readonly typeName: string;
  readonly method: HttpMethod;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly isDeprecated: boolean;
  readonly security: readonly { readonly scheme: string; readonly roles: readonly string[] }[];
  /** Whether requests without a credential are accepted (`{}` is one of the alternatives). */
  readonly isOptional: boolean;
  readonly rateLimit: RateLimitName;
  /** Whether its response depends on calls to other servers. */
  readonly reachesOut: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: BodyContract | undefined;
  readonly responses: readonly ResponseContract[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly description: string;
  readonly required: boolean;
  readonly hasDefault: boolean;
  readonly type: 'boolean' | 'integer' | 'number' | 'string';
  readonly list: boolean;
  readonly rest: boolean;
  readonly schema: SchemaObject;
}

export interface MediaContent {
  readonly type: string;
  readonly kind: 'bytes' | 'events' | 'json' | 'text';
  /** For events, the schema of the event data. */
  readonly schema: SchemaObject | undefined;
}

export interface BodyContract {
  readonly required: boolean;
  readonly maxBytes: number;
  /** Whether the handler reads the bytes itself, on demand. */
  readonly isDeferred: boolean;
  readonly contents: readonly MediaContent[];
}

/** A status, a range such as `4XX`, or `default`. */
export type StatusKey = `${number}` | `${number}XX` | 'default';

export interface ResponseContract {
  readonly status: StatusKey;
  readonly headers: readonly { readonly name: string; readonly required: boolean; readonly description: string }[];
  readonly contents: readonly MediaContent[];
  /** Whether the body is the shared error schema. Handlers produce such responses by throwing. */
  readonly isError: boolean;
}

export const ERROR_REF = '#/components/schemas/Error';

/** Server-sent events. */
export const EVENT_STREAM = 'text/event-stream';

/** 1 MiB, the limit of bodies without `x-max-bytes`. */
const DEFAULT_MAX_BYTES = 1024 ** 2;

/** Converts a document that has passed all checks. */
export function toContract(service: string, document: ContractDocument, revision: string): Contract {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [readOperation({ document, path, item, method, operation })];
    }),
  );
  const schemes = Object.entries(document.components?.securitySchemes ?? {});
  return {
    service,
    title: document.info.title,
    basePath: toBasePath(document.servers[0]),
    revision,
    schemes: Object.fromEntries(schemes.map(([name, scheme]) => [name, dereference(document, scheme)['x-caller']])),
    operations,
    schemas: document.components?.schemas ?? {},
    tags: (document.tags ?? []).map(({ name, description = '' }) => ({
      name,
      description,
      operations: operations.filter(({ tag }) => tag === name),
    })),
  };
}

/** Returns the path of a server, with the defaults of its variables. */
function toBasePath({ url, variables = {} }: ServerObject): string {
  const text = url.replace(/\{([^{}]+)\}/g, (_, name: string) => variables[name]?.default ?? '');
  const path = /^(?:[a-z][a-z\d+.-]*:)?\/\//i.test(text) ? new URL(text, 'http://localhost').pathname : `/${text}`;
  return path.replace(/^\/+/, '/').replace(/\/+$/, '');
}

interface Found {
  readonly document: ContractDocument;
  readonly path: string;
  readonly item: PathItemObject;
  readonly method: HttpMethod;
  readonly operation: OperationObject;
}

function readOperation({ document, path, item, method, operation }: Found): Operation {
  const security = operation.security ?? document.security ?? [];
  return {
    id: operation.operationId,
    typeName: pascal(operation.operationId),
    method,
    path,
    tag: operation.tags[0] ?? '',
    summary: operation.summary,
    isDeprecated: operation.deprecated ?? false,
    security: security.flatMap((requirement) =>
      Object.entries(requirement).map(([scheme, roles]) => ({ scheme, roles })),
    ),
    isOptional: security.some((requirement) => Object.keys(requirement).length === 0),
    rateLimit: operation['x-rate-limit'] ?? 'default',
    reachesOut: operation['x-reaches-out'] ?? false,
    parameters: readParameters(document, [...(item.parameters ?? []), ...(operation.parameters ?? [])]),
    body: operation.requestBody && readBody(dereference<RequestBodyObject>(document, operation.requestBody)),
    responses: Object.entries(operation.responses).map(([status, response]) =>
      readResponse(document, status as StatusKey, dereference<ResponseObject>(document, response)),
    ),
  };
}

/** A parameter of the operation replaces the parameter of its path with the same name and location. */
function readParameters(
  document: ContractDocument,
  parameters: readonly (ParameterObject | ReferenceObject)[],
): readonly Parameter[] {
  const found = new Map<string, Parameter>();
  for (const object of parameters) {
    const parameter = readParameter(document, dereference<ParameterObject>(document, object));
    found.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  return [...found.values()];
}

function readParameter(document: ContractDocument, parameter: ParameterObject): Parameter {
  const { schema } = parameter;
  const { type, list } = readParameterType(document, schema);
  return {
    // Node reports header names in lower case.
    name: parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name,
    in: parameter.in,
    description: parameter.description ?? '',
    required: parameter.required ?? false,
    hasDefault: findDefault(document, schema) !== undefined,
    type,
    list,
    rest: parameter['x-rest'] ?? false,
    schema,
  };
}

function readParameterType(document: ContractDocument, schema: SchemaObject): Pick<Parameter, 'list' | 'type'> {
  if (typeof schema === 'boolean') return { type: 'string', list: false };
  const { type, items } = dereference<Exclude<SchemaObject, boolean>>(document, schema);
  if (type === 'array')
    return { type: items === undefined ? 'string' : readParameterType(document, items).type, list: true };
  return { type: type as Parameter['type'], list: false };
}

function findDefault(document: ContractDocument, schema: SchemaObject): unknown {
  if (typeof schema === 'boolean') return undefined;
  return (
    schema.default ?? (schema.$ref === undefined ? undefined : findDefault(document, resolveOnce(document, schema)))
  );
}

function resolveOnce(document: ContractDocument, { $ref = '' }: { readonly $ref?: string }): SchemaObject {
  return document.components?.schemas?.[$ref.split('/').at(-1) ?? ''] ?? true;
}

function readBody({ required = false, content, ...extensions }: RequestBodyObject): BodyContract {
  const { 'x-max-bytes': maxBytes = DEFAULT_MAX_BYTES, 'x-body': mode } = extensions;
  return { required, maxBytes, isDeferred: mode === 'deferred', contents: readContents(content) };
}

function readResponse(
  document: ContractDocument,
  status: StatusKey,
  { headers = {}, content = {} }: ResponseObject,
): ResponseContract {
  const contents = readContents(content);
  return {
    status,
    contents,
    isError: contents.some(({ schema }) => typeof schema === 'object' && schema.$ref === ERROR_REF),
    headers: Object.entries(headers).map(([name, object]) => {
      const { required = false, description = '' } = dereference<{ required?: boolean; description?: string }>(
        document,
        object,
      );
      return { name, required, description };
    }),
  };
}

function readContents(content: ContentObject): readonly MediaContent[] {
  return Object.entries(content).map(([type, { schema, 'x-event': event }]) => {
    const kind = toKind(type);
    return { type, kind, schema: kind === 'events' ? event : schema };
  });
}

function toKind(type: string): MediaContent['kind'] {
  if (/^application\/(?:[\w.+-]+\+)?json\b/.test(type)) return 'json';
  if (type === EVENT_STREAM) return 'events';
  return type.startsWith('text/') ? 'text' : 'bytes';
}

export type HttpMethod = 'delete' | 'get' | 'head' | 'options' | 'patch' | 'post' | 'put';

export const METHODS: readonly HttpMethod[] = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'];

/** The values of `x-body`: alternatives to parsing and validating a body before its handler is called. */
export const BODY_MODES = ['deferred'] as const;

/** The values of `x-rate-limit`: the rate limit that the requests of an operation count towards. */
export const RATE_LIMITS = ['create', 'default', 'none', 'sign-in'] as const;

type RateLimitName = (typeof RATE_LIMITS)[number];

interface ReferenceObject {
  readonly $ref: string;
}

/** A JSON Schema. `true` accepts any value, `false` none. */
export type SchemaObject = boolean | SchemaKeywords;

export interface SchemaKeywords {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly items?: SchemaObject;
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly [keyword: string]: unknown;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: SchemaObject;
  readonly 'x-rest'?: boolean;
}

interface HeaderObject {
  readonly description?: string;
  readonly required?: boolean;
}

interface MediaTypeObject {
  readonly schema?: SchemaObject;
  /** For `text/event-stream` only: the schema of the event data. */
  readonly 'x-event'?: SchemaObject;
}

type ContentObject = Readonly<Record<string, MediaTypeObject>>;

export interface RequestBodyObject {
  readonly required?: boolean;
  readonly content: ContentObject;
  readonly 'x-max-bytes'?: number;
  readonly 'x-body'?: (typeof BODY_MODES)[number];
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject | ReferenceObject>>;
  readonly content?: ContentObject;
}

type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[];
  readonly requestBody?: ReferenceObject | RequestBodyObject;
  readonly responses: Readonly<Record<string, ReferenceObject | ResponseObject>>;
  readonly security?: readonly SecurityRequirement[];
  readonly 'x-rate-limit'?: RateLimitName;
  readonly 'x-reaches-out'?: boolean;
}

type PathItemObject = Partial<Readonly<Record<HttpMethod, OperationObject>>> & {
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[];
};

export type CallerKind = 'consumer_token' | 'session' | 'token';

interface ServerObject {
  readonly url: string;
  readonly variables?: Readonly<Record<string, { readonly default: string }>>;
}

/** The bundled document of a contract, which has passed all checks. */
export interface ContractDocument {
  readonly info: { readonly title: string };
  readonly servers: readonly [ServerObject];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly security?: readonly SecurityRequirement[];
  readonly paths: Readonly<Record<string, PathItemObject>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, SchemaObject>>;
    readonly securitySchemes?: Readonly<Record<string, { readonly 'x-caller': CallerKind }>>;
    readonly [section: string]: Readonly<Record<string, unknown>> | undefined;
  };
}

/** Returns the object itself, or the component that it refers to. */
export function dereference<T extends object>(document: ContractDocument, object: ReferenceObject | T): T {
  if (!('$ref' in object) || typeof object.$ref !== 'string') return object as T;
  const [, , section = '', name = ''] = object.$ref.split('/');
  // The checks guarantee that references lead to components of the right type.
  return dereference(document, document.components?.[section]?.[name] as ReferenceObject | T);
}
