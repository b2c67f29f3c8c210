import { pascal, toGroupName } from '../output.js';
import {
  DEFAULT_MAX_BYTES,
  findJsonType,
  findLimit,
  type FormContract,
  MULTIPART,
  parseMediaType,
  readTextValue,
  type TextValue,
  toFormContract,
  URLENCODED,
  withoutFiles,
} from './forms.js';
import { toNode } from './nodes.js';

/** A contract in the form that the code writers use. */
export interface Contract {
  readonly service: string;
  readonly title: string;
  /** The prefix of every path, such as `/secrets`, or an empty string. */
  readonly basePath: string;
  readonly revision: string;
  readonly schemes: Readonly<Record<string, SchemeContract>>;
  readonly tags: readonly Tag[];
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, SchemaObject>>;
}

interface Tag {
  /** The name in generated code. */
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** A security scheme with the kind of its callers. */
interface SchemeContract {
  readonly caller: string;
  /** Whether the application has a type for its callers, as `x-caller` says. */
  readonly hasOwnType: boolean;
  readonly type: string;
  readonly in: string | undefined;
  readonly name: string | undefined;
  readonly scheme: string | undefined;
}

export interface SecurityScheme {
  readonly scheme: string;
  readonly roles: readonly string[];
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
  /** The alternatives, each with the schemes that it combines. */
  readonly security: readonly (readonly SecurityScheme[])[];
  /** Whether requests without a credential are accepted (`{}` is one of the alternatives). */
  readonly isOptional: boolean;
  readonly rateLimit: RateLimitName;
  /** Whether its response depends on calls to other servers. */
  readonly reachesOut: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: BodyContract | undefined;
  readonly responses: readonly ResponseContract[];
}

/** How a value is written as text. Fields that have their default are absent. */
export interface TextFormat {
  readonly style?: ParameterStyle;
  readonly explode?: boolean;
  /** Whether the text is JSON. */
  readonly isJson?: true;
}

export interface Parameter extends TextValue, TextFormat {
  readonly name: string;
  /** The name in the contract; `name` is that of a header in lower case. */
  readonly declaredName: string;
  readonly in: ParameterPlace;
  readonly description: string;
  readonly required: boolean;
  readonly hasDefault: boolean;
  /** Whether an empty value is passed on, whatever the schema is. */
  readonly allowsEmpty: boolean;
  readonly rest: boolean;
  readonly schema: SchemaObject;
}

export interface MediaContent {
  /** The media type or range as the contract writes it. */
  readonly type: string;
  /** The media type without parameters. */
  readonly essence: string;
  readonly kind: 'bytes' | 'events' | 'form' | 'json' | 'multipart' | 'text';
  /** For events, the schema of the event data. */
  readonly schema: SchemaObject | undefined;
  /** The fields and files of a form. */
  readonly form?: FormContract;
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
    schemes: Object.fromEntries(
      schemes.map(([name, scheme]) => [name, readScheme(name, dereference<SecuritySchemeObject>(document, scheme))]),
    ),
    operations,
    schemas: document.components?.schemas ?? {},
    tags: (document.tags ?? []).map(({ name, description = '' }, _index, { length }) => ({
      name: toGroupName(name, service, length),
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
    security: security
      .map((requirement) => Object.entries(requirement).map(([scheme, roles]) => ({ scheme, roles })))
      .filter((alternative) => alternative.length > 0),
    isOptional: security.some((requirement) => Object.keys(requirement).length === 0),
    rateLimit: operation['x-rate-limit'] ?? 'default',
    reachesOut: operation['x-reaches-out'] ?? false,
    parameters: readParameters(document, [...(item.parameters ?? []), ...(operation.parameters ?? [])]),
    body: operation.requestBody && readBody(document, dereference<RequestBodyObject>(document, operation.requestBody)),
    responses: Object.entries(operation.responses).map(([status, response]) =>
      readResponse(document, status as StatusKey, dereference<ResponseObject>(document, response)),
    ),
  };
}

function readScheme(
  name: string,
  { type, in: place, name: key, scheme, ...rest }: SecuritySchemeObject,
): SchemeContract {
  const { 'x-caller': caller } = rest;
  return {
    caller: caller ?? name,
    hasOwnType: caller !== undefined,
    type,
    in: type === 'apiKey' ? place : undefined,
    name: type === 'apiKey' ? key : undefined,
    scheme: type === 'http' ? scheme?.toLowerCase() : undefined,
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
  const [content] = Object.values(parameter.content ?? {});
  const schema = content === undefined ? (parameter.schema ?? true) : (content.schema ?? true);
  const allowsEmpty = parameter.allowEmptyValue ?? false;
  return {
    // Node reports header names in lower case.
    name: parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name,
    declaredName: parameter.name,
    in: parameter.in,
    description: parameter.description ?? '',
    required: parameter.required ?? false,
    hasDefault: findDefault(document, schema) !== undefined,
    allowsEmpty,
    rest: parameter['x-rest'] ?? false,
    schema: allowsEmpty ? withEmpty(schema, findDefault(document, schema)) : schema,
    ...(content === undefined ? toTextFormat(parameter) : { isJson: true }),
    ...(content === undefined ? toTextValue(document, schema) : JSON_TEXT),
  };
}

/** The text of a value in JSON. */
const JSON_TEXT = { types: ['string'], list: false } as const satisfies TextValue;

function withEmpty(schema: SchemaObject, known: unknown): SchemaObject {
  return { anyOf: [schema, { const: '' }], ...(known === undefined ? {} : { default: known }) };
}

/** Returns the style of a parameter or form field, without what is the default of its place. */
export function toTextFormat(
  object: Pick<ParameterObject, 'explode' | 'style'> & { readonly in?: ParameterPlace },
): TextFormat {
  const isForm = object.in === undefined || object.in === 'query' || object.in === 'cookie';
  const byDefault = isForm ? 'form' : 'simple';
  const { style = byDefault, explode = style === 'form' } = object;
  // Every deepObject has a name for each property.
  const isDefault = style === 'deepObject' || explode === (style === 'form');
  return { ...(style === byDefault ? {} : { style }), ...(isDefault ? {} : { explode }) };
}

/** Returns the value that text stands for. The checks have reported schemas that no text fits. */
function toTextValue(document: ContractDocument, schema: SchemaObject): TextValue {
  const { sources, place } = toNode(document, schema);
  return readTextValue(sources, place, () => undefined);
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

function readBody(
  document: ContractDocument,
  { required = false, content, ...extensions }: RequestBodyObject,
): BodyContract {
  const { 'x-max-bytes': maxBytes = DEFAULT_MAX_BYTES, 'x-body': mode } = extensions;
  const contents = readContents(content).map((media) => withForm(document, media, content[media.type]?.encoding));
  const longest = contents.map((media) => readMaxLength(document, media));
  const limit = contents.length === 0 ? maxBytes : Math.min(maxBytes, Math.max(...longest));
  return { required, maxBytes: limit, isDeferred: mode === 'deferred', contents };
}

/** Returns the number of bytes that a body of bytes may have; infinite for others, whose validators measure them. */
function readMaxLength(document: ContractDocument, { kind, schema }: MediaContent): number {
  if (kind !== 'bytes' || schema === undefined) return Infinity;
  const { sources, place } = toNode(document, schema);
  return Number(findLimit(sources, { schema: place })?.value ?? Infinity);
}

/** Adds the fields of a form, and removes the files from the schema of its fields. */
function withForm(document: ContractDocument, media: MediaContent, encoding: EncodingMap = {}): MediaContent {
  if (media.kind !== 'form' && media.kind !== 'multipart') return media;
  const form = toFormContract(document, media, encoding);
  return {
    ...media,
    form,
    schema: withoutFiles(
      document,
      media.schema,
      form.files.map(({ name }) => name),
    ),
  };
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
    const essence = parseMediaType(type)?.essence ?? type;
    return { type, essence, kind, schema: kind === 'events' ? event : schema };
  });
}

function toKind(type: string): MediaContent['kind'] {
  const essence = parseMediaType(type)?.essence ?? type;
  if (findJsonType(type) !== undefined) return 'json';
  if (essence === URLENCODED) return 'form';
  if (essence === MULTIPART) return 'multipart';
  if (essence === EVENT_STREAM) return 'events';
  return essence.startsWith('text/') ? 'text' : 'bytes';
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

/** The places of parameters. */
export const PLACES = ['cookie', 'header', 'path', 'query'] as const;

type ParameterPlace = (typeof PLACES)[number];

/** The styles of OpenAPI that are supported. */
export type ParameterStyle = 'deepObject' | 'form' | 'pipeDelimited' | 'simple' | 'spaceDelimited';

export interface ParameterObject {
  readonly name: string;
  readonly in: ParameterPlace;
  readonly description?: string;
  readonly required?: boolean;
  readonly style?: ParameterStyle;
  readonly explode?: boolean;
  readonly allowEmptyValue?: boolean;
  /** Either a schema or a single content. */
  readonly schema?: SchemaObject;
  readonly content?: ContentObject;
  readonly 'x-rest'?: boolean;
}

interface HeaderObject {
  readonly description?: string;
  readonly required?: boolean;
}

interface EncodingObject {
  /** A media type, a range, or several with commas. */
  readonly contentType?: string;
  readonly style?: ParameterStyle;
  readonly explode?: boolean;
  readonly allowReserved?: boolean;
}

export type EncodingMap = Readonly<Record<string, EncodingObject>>;

interface MediaTypeObject {
  readonly schema?: SchemaObject;
  /** For the fields of forms only. */
  readonly encoding?: EncodingMap;
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
  readonly callbacks?: Readonly<Record<string, Readonly<Record<string, object>> | ReferenceObject>>;
  readonly 'x-rate-limit'?: RateLimitName;
  readonly 'x-reaches-out'?: boolean;
}

type PathItemObject = Partial<Readonly<Record<HttpMethod, OperationObject>>> & {
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[];
};

interface SecuritySchemeObject {
  readonly type: string;
  readonly in?: string;
  readonly name?: string;
  readonly scheme?: string;
  readonly 'x-caller'?: string;
}

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
    readonly securitySchemes?: Readonly<Record<string, ReferenceObject | SecuritySchemeObject>>;
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

/** Returns the schema itself, or the schema of the components that it refers to. */
export function resolveSchema(
  schemas: Contract['schemas'],
  schema: SchemaObject | undefined,
): SchemaObject | undefined {
  if (typeof schema !== 'object' || schema.$ref === undefined) return schema;
  return resolveSchema(schemas, schemas[schema.$ref.split('/').at(-1) ?? '']);
}
