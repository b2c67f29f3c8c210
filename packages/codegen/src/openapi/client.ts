import { docstring, pascal, printLiteral, printModules, toStringLiteral } from '../output.js';
import {
  type Contract,
  ERROR_REF,
  type Operation,
  type Parameter,
  resolveSchema,
  type SchemaObject,
  type TextFormat,
} from './contract.js';
import type { FormField } from './forms.js';
import type { ServiceConfig, ServiceModules } from './preset.js';

/** Writes `client.ts`: the function that creates a client of the service, and related exports. */
export function writeClient(contract: Contract, { service, tokenVariable, modules }: ServiceConfig): string {
  const { title, basePath } = contract;
  const name = pascal(service);
  const mediaTypes = contract.operations.flatMap(writeMediaType);
  const styles = contract.operations.flatMap(writeStyles);
  return `${printModules('import', [
    [modules.client, 'createClient', 'type ServiceClient'],
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
${writeTable('mediaTypes', mediaTypes)}${writeTable('styles', styles)}  } as const;
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
