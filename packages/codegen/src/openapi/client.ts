import { docstring, pascal, printLiteral, printModules, toKey, toStringLiteral } from '../output.js';
import {
  type Contract,
  type ContractDocument,
  dereference,
  ERROR_REF,
  type MediaContent,
  type Operation,
  type Parameter,
  resolveSchema,
  type ResponseObject,
  type SchemaObject,
  type TextFormat,
} from './contract.js';
import type { FormField } from './forms.js';
import { toRoute } from './paths.js';
import type { ServiceConfig, ServiceModules } from './preset.js';

/** Writes `client.ts`: the function that creates a client of the service, and related exports. */
export function writeClient(contract: Contract, { service, tokenVariable, modules }: ServiceConfig): string {
  const { title, basePath } = contract;
  const name = pascal(service);
  const mediaTypes = contract.operations.flatMap(writeMediaType);
  const styles = contract.operations.flatMap(writeStyles);
  const hasSuffixes = contract.operations.some(({ path }) => toRoute(path) !== path);
  return `${printModules('import', [
    [modules.client, 'createClient', 'type ServiceClient'],
    ...(hasSuffixes ? [[modules.clientPaths, 'splitPath'] as const] : []),
    [modules.clientOptions, 'type ClientOptions'],
    [
      modules.clientErrors,
      ...['ApiError as AnyApiError', 'type ApiErrorClass', 'type ApiErrorOf'],
      ...['decodeError as decodeAnyError', 'type ErrorDecoder'],
    ],
    ['./revision.js', 'revision'],
    ['./types.js', ...(hasCodes(contract) ? ['type components'] : []), 'type paths'],
  ])}
${printModules('export', listClientExports(modules))}
/** The environment variable that the token is read from unless an option sets it. */
export const TOKEN_ENV_VAR = ${toStringLiteral(tokenVariable)};

/** The error codes of the contract. */
export type ErrorCode = ${hasCodes(contract) ? `NonNullable<components['schemas']['Error']['code']>` : 'string'};

/** An error response. Its \`message\` is the server's message, or the status when the body has no message. */
export type ApiError = ApiErrorOf<ErrorCode>;
export const ApiError = AnyApiError as ApiErrorClass<ErrorCode>;

/** Converts an error response to an {@link ApiError}; \`undefined\` when the status is below 400. */
export const decodeError = decodeAnyError as ErrorDecoder<ErrorCode>;

${docstring(`A client of ${title} with the functions \`GET\`, \`POST\`, …, typed by the paths of the contract.`)}export type ${name}Client = ServiceClient<paths>;

${docstring(`Creates a client of ${title}.

@param baseUrl The URL of the service, such as \`http://localhost:4000${basePath}\`. Trailing slashes are removed.`)}export function create${name}Client(baseUrl: string, options: ClientOptions = {}): ${name}Client {
  const contract = {
    baseUrl,
    revision,
    product: ${toStringLiteral(title)},
    tokenVariable: TOKEN_ENV_VAR,
${writeTable('mediaTypes', mediaTypes)}${writeTable('styles', styles)}${hasSuffixes ? '    toTarget: splitPath,\n' : ''}  } as const;
  return createClient<paths>(contract, options);
}
`;
}

const writeTable = (name: string, rows: readonly string[]): string =>
  rows.length === 0 ? '' : `    ${name}: {\n${rows.join('')}    },\n`;

/** Returns whether error responses have codes of the contract. */
function hasCodes({ schemas }: Contract): boolean {
  const error = schemas[ERROR_REF.slice(ERROR_REF.lastIndexOf('/') + 1)];
  const code = typeof error === 'object' ? error.properties?.code : undefined;
  return hasValues(resolveSchema(schemas, code));
}

/** Returns whether a schema lists texts. Other contracts have numbers as codes. */
function hasValues(schema: SchemaObject | undefined): boolean {
  if (typeof schema !== 'object') return false;
  const values = (schema.enum ?? [schema.const]).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => typeof value === 'string');
}

/** The client encodes bodies as JSON unless this table says otherwise. */
function writeMediaType({ method, path, body }: Operation): readonly string[] {
  const types = body?.contents.map(({ type }) => type) ?? [];
  const [first] = types;
  if (first === undefined || types.includes(JSON_TYPE)) return [];
  return [`      ${toStringLiteral(`${method.toUpperCase()} ${path}`)}: ${toStringLiteral(first)},\n`];
}

/** The client writes lists and plain values in the usual way unless this table says otherwise. */
function writeStyles({ method, path, parameters, body }: Operation): readonly string[] {
  const fields = body?.contents[0]?.form?.fields ?? [];
  const styles = [
    ...parameters
      .filter(isUnusual)
      .map((parameter) => [`${parameter.in} ${parameter.name}`, toStyle(parameter)] as const),
    ...fields.filter(isUnusualField).map((field) => [`body ${field.name}`, toStyle(field)] as const),
  ];
  if (styles.length === 0) return [];
  const key = toStringLiteral(`${method.toUpperCase()} ${path}`);
  return [`      ${key}: ${printLiteral(Object.fromEntries(styles), '      ')},\n`];
}

const toStyle = ({ style, explode, isJson }: TextFormat): object =>
  Object.fromEntries(Object.entries({ style, explode, isJson }).filter(([, value]) => value !== undefined));

/** Objects in forms are JSON. */
const isUnusualField = ({ style, explode, isJson, properties }: FormField): boolean =>
  style !== undefined || explode !== undefined || (properties !== undefined && isJson === undefined);

const isUnusual = ({ in: place, style, explode, isJson, properties, others }: Parameter): boolean =>
  place === 'cookie' || [style, explode, isJson, properties, others].some((member) => member !== undefined);

const JSON_TYPE = 'application/json';

/** Lists the other exports that users of a client need, as the file is the entry point of the client package. */
const listClientExports = (modules: ServiceModules): Parameters<typeof printModules>[1] => [
  [modules.clientOptions, 'type ClientOptions'],
  [modules.clientErrors, 'requireData'],
  [modules.clientEvents, 'readEvents', 'type StreamEvent', 'type StreamInit', 'type StreamOptions'],
  [modules.clientPaging, 'readAll', 'readAllAfter', 'type PageAfterQuery', 'type PageQuery'],
  [modules.clientRetry, 'type RetryEvent', 'type RetrySettings'],
  ['./revision.js', 'revision'],
  ['./types.js', 'type components', 'type operations', 'type paths'],
];

/**
 * Writes `calls.ts`: a function for each operation, which takes a client. A program that imports some of them contains
 * no others.
 */
export function writeCalls(
  contract: Contract,
  document: ContractDocument,
  modules: { readonly clientCall: string },
): string {
  // A document may describe webhooks only.
  if (contract.operations.length === 0) return 'export {};\n';
  const calls = contract.operations.map((operation) => writeCall(contract, document, operation)).join('\n');
  const names = ['Call', 'ListCall', 'StreamCall'].filter((name) => calls.includes(`: ${name}<`));
  const imported = names.flatMap((name) => [`type ${name}`, `create${name}`]);
  const types = ['components', 'operations', 'paths'].filter((name) => new RegExp(`\\b${name}\\b[[,]`).test(calls));
  return `${printModules('import', [
    [modules.clientCall, 'type CallArguments', ...imported],
    ['./types.js', ...types.map((name) => `type ${name}`)],
  ])}
${calls}`;
}

function writeCall(contract: Contract, document: ContractDocument, operation: Operation): string {
  const { id, method, path } = operation;
  const events = findContent(operation)?.kind === 'events' ? findContent(operation) : undefined;
  const paging = findPaging(contract, operation);
  const types = `operations[${toStringLiteral(id)}]`;
  const shared = listSharedNames(operation);
  const values = `CallArguments<${[types, ...(shared.length === 0 ? [] : [shared.map(toStringLiteral).join(' | ')])].join(', ')}>`;
  const spec = writeSpec(operation, shared, paging);
  const target = `${toStringLiteral(method)}, ${toStringLiteral(path)}`;
  // The type is written, so that declarations can be made of each file alone (`isolatedDeclarations`), and need no other names.
  const call =
    events !== undefined
      ? `StreamCall<paths, ${typeOfEvent(events)}, ${values}> = /* @__PURE__ */ createStreamCall(${target}${spec})`
      : paging !== undefined
        ? `ListCall<paths, ${types}, ${values}> = /* @__PURE__ */ createListCall(${toStringLiteral(path)}${spec})`
        : `Call<paths, ${types}, ${values}${writeParseAs(operation, ", '", "'")}> = /* @__PURE__ */ createCall(${target}${spec})`;
  return `${docstring(describe(document, operation))}export const ${toName(id)}: ${call};\n`;
}

/** Names that a constant can't have, and those of the imports. */
const RESERVED = new Set(
  'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield arguments eval globalThis undefined components Call CallArguments createCall createListCall createStreamCall ListCall operations paths StreamCall'.split(
    ' ',
  ),
);

const toName = (id: string): string => (RESERVED.has(id) ? `${id}_` : id);

/** Returns the content of the first successful response that has any. */
const findContent = ({ responses }: Operation): MediaContent | undefined =>
  responses.find(({ status, contents }) => /^[123]/.test(status) && contents.length > 0)?.contents[0];

const typeOfEvent = ({ schema }: MediaContent): string =>
  typeof schema === 'object' && schema.$ref !== undefined
    ? `components['schemas'][${toStringLiteral(schema.$ref.split('/').at(-1) ?? '')}]`
    : 'unknown';

interface Paging {
  readonly by: 'after' | 'offset';
  readonly limit: number | undefined;
}

/** A list is paged if it takes `limit`, and `offset` or `after`. */
function findPaging({ schemas }: Contract, operation: Operation): Paging | undefined {
  const find = (name: string) => operation.parameters.find((one) => one.in === 'query' && one.name === name);
  const schema = resolveSchema(schemas, findContent(operation)?.schema);
  const [limit, isList] = [find('limit'), typeof schema === 'object' && schema.type === 'array'];
  const by = find('offset') ? 'offset' : find('after') ? 'after' : undefined;
  if (operation.method !== 'get' || !isList || limit === undefined || by === undefined) return undefined;
  const bounds = resolveSchema(schemas, limit.schema);
  return { by, limit: typeof bounds === 'object' ? (bounds.maximum as number | undefined) : undefined };
}

/** Lists the names that two parameters have, and `body` if a parameter has it. */
function listSharedNames({ parameters }: Operation): readonly string[] {
  const names = parameters.map(({ name }) => name);
  return [...new Set(names.filter((name, index) => name === 'body' || names.indexOf(name) !== index))];
}

function writeSpec(operation: Operation, shared: readonly string[], paging: Paging | undefined): string {
  const places = operation.parameters.flatMap((parameter) => writePlace(parameter, shared));
  const members = [
    ...(places.length === 0 ? [] : [`places: { ${places.join(', ')} }`]),
    ...(writeParseAs(operation) === '' ? [] : [writeParseAs(operation, "parseAs: '", "'")]),
    ...(paging === undefined ? [] : [`paging: ${toStringLiteral(paging.by)}`]),
    ...(paging?.limit === undefined ? [] : [`limit: ${paging.limit}`]),
  ];
  return members.length === 0 ? '' : `, { ${members.join(', ')} }`;
}

function writePlace({ name, in: place }: Parameter, shared: readonly string[]): readonly string[] {
  if (shared.includes(name)) {
    const argument = place + name.charAt(0).toUpperCase() + name.slice(1);
    return [`${toKey(argument)}: ${toStringLiteral(`${place} ${name}`)}`];
  }
  return place === 'path' || place === 'query' ? [] : [`${toKey(name)}: ${toStringLiteral(place)}`];
}

const PARSED: Readonly<Record<MediaContent['kind'], string>> = {
  ...{ bytes: 'blob', events: '', form: 'text', json: '', multipart: 'blob', text: 'text' },
};

function writeParseAs(operation: Operation, before = '', after = ''): string {
  const parseAs = PARSED[findContent(operation)?.kind ?? 'json'];
  return parseAs === '' ? '' : `${before}${parseAs}${after}`;
}

/** Returns the documentation of a function: the texts of its operation, and the errors that it can return. */
function describe(document: ContractDocument, { method, path, summary, isDeprecated, responses }: Operation): string {
  const operation = document.paths[path]?.[method];
  const errors = responses
    .filter(({ status }) => /^[45d]/.test(status))
    .map(({ status }) => `${status} ${listCodes(document, operation?.responses[status]).join(' or ')}`.trim());
  return [
    summary,
    ...(operation?.description === undefined ? [] : ['', operation.description.trim()]),
    ...(errors.length === 0 ? [] : ['', `Errors: ${errors.join(', ')}.`]),
    ...(isDeprecated ? ['', '@deprecated'] : []),
  ].join('\n');
}

/** Lists the codes in the examples of an error response. */
function listCodes(document: ContractDocument, response: object | undefined): readonly string[] {
  const { content = {} } = response === undefined ? {} : dereference<Partial<ResponseObject>>(document, response);
  const codes = Object.values(content).flatMap((media) => {
    const { example, examples = {} } = media as ExampleObject;
    return [example, ...Object.values(examples).map(({ value }) => value)].map((value) => value?.code);
  });
  return [...new Set(codes)].filter((code) => typeof code === 'string').map((code) => `\`${code}\``);
}

interface ExampleObject {
  readonly example?: ErrorExample;
  readonly examples?: Readonly<Record<string, { readonly value?: ErrorExample }>>;
}

interface ErrorExample {
  readonly code?: unknown;
}
