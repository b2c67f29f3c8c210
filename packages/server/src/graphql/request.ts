import type { IncomingMessage } from 'node:http';
import { AppError } from '@trellis/core/errors';
import {
  type DocumentNode,
  FragmentsOnCompositeTypesRule,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  KnownTypeNamesRule,
  LoneAnonymousOperationRule,
  NoFragmentCyclesRule,
  NoSchemaIntrospectionCustomRule,
  NoUndefinedVariablesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  OperationTypeNode,
  parse,
  PossibleFragmentSpreadsRule,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  TokenKind,
  UniqueDirectivesPerLocationRule,
  UniqueFragmentNamesRule,
  UniqueOperationNamesRule,
  UniqueVariableNamesRule,
  validate,
  type ValidationRule,
  VariablesAreInputTypesRule,
  VariablesInAllowedPositionRule,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { type BodySpec, parseUntrustedJson, readBodyBytes } from '../http/body.js';
import { parseQuery, parseTarget } from '../http/request.js';
import { assertBreadthLimits, assertLimit, documentError } from './limits.js';

/** The members of a well-formed GraphQL-over-HTTP request. */
export interface GraphqlRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

type Members = Readonly<Record<string, unknown>>;

const BODY: BodySpec = {
  required: true,
  contentTypes: ['application/json'],
  // Documents are limited to a few thousand tokens; most of this is for variables such as long lists of ids.
  maxBytes: 1024 * 1024,
};

/** A GraphQL-over-HTTP request that has been read but not parsed. */
export interface UnparsedRequest {
  readonly method: 'GET' | 'POST';
  /** The URL of a GET or HEAD, or the body of a POST in latin1, which is a copy of its bytes. */
  readonly text: string;
}

/**
 * Reads a GraphQL-over-HTTP request. Returns a promise only if it has a body.
 *
 * @throws AppError with the status that the specification requires.
 */
export function readRequestText(request: IncomingMessage): Promise<UnparsedRequest> | UnparsedRequest {
  requireOwnOrigin(request);
  const { method, url = '' } = request;
  // Node leaves out the body of the response to a HEAD.
  if (method === 'GET' || method === 'HEAD') return { method: 'GET', text: url };
  if (method === 'POST') {
    return readBodyBytes(request, BODY).then((bytes) => ({ method, text: bytes?.toString('latin1') ?? '' }));
  }
  throw new AppError('method_not_allowed', `Expected GET, HEAD or POST; received ${String(request.method)}.`, {
    headers: { Allow: 'GET, HEAD, POST, OPTIONS' },
  });
}

/**
 * Parses the query string of a GET, or the JSON body of a POST.
 *
 * @throws AppError with the status that the specification requires.
 */
export function parseRequestText({ method, text }: UnparsedRequest): GraphqlRequest {
  return toRequest(method === 'GET' ? readSearch(text) : readMembers(text));
}

/**
 * Rejects requests that a browser sends for a page of a different origin. Images, scripts, styles, frames and `fetch`
 * would let any page start queries on a server that only its visitor can reach. A different port of the same host is
 * `same-site` and rejected as well. Links to a `document` are allowed, and so are clients without these headers.
 *
 * @throws AppError `cross_site`
 */
function requireOwnOrigin({ headers }: IncomingMessage): void {
  const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = headers;
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (!isForeign || destination === 'document') return;
  throw new AppError(
    'cross_site',
    `A page of a different origin sent this request (Sec-Fetch-Site: ${site}). Send queries from a page of this server, or from a client other than a browser.`,
  );
}

function readSearch(url: string): Members {
  const parameters = parseQuery(parseTarget(url).query);
  const read = (name: string) => {
    const [value, ...more] = parameters.get(name) ?? [];
    if (more.length > 0) throw invalid(name, `Expected "${name}" once; received it ${more.length + 1} times.`);
    return value;
  };
  return {
    query: read('query'),
    operationName: read('operationName'),
    variables: parseMember('variables', read('variables')),
    extensions: parseMember('extensions', read('extensions')),
  };
}

function parseMember(name: string, text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined;
  try {
    return parseUntrustedJson(Buffer.from(text));
  } catch (cause) {
    throw invalid(name, `Expected "${name}" to be a JSON object; received text that is not JSON.`, cause);
  }
}

function readMembers(text: string): Members {
  const body = parseUntrustedJson(Buffer.from(text, 'latin1'));
  if (isMap(body)) return body;
  const received = Array.isArray(body) ? 'an array (batches are not supported)' : describe(body);
  throw new AppError('malformed_body', `Expected a JSON object with a "query"; received ${received}.`);
}

/** The message after which clients of Apollo and urql that have sent only the hash of a query send the query itself. */
const NOT_PERSISTED = 'PersistedQueryNotSupported';

function toRequest({ query, operationName, variables, extensions }: Members): GraphqlRequest {
  if (isAbsent(query) && isMap(extensions) && isMap(extensions.persistedQuery)) throw invalid('query', NOT_PERSISTED);
  if (typeof query !== 'string') throw expected('query', 'a string with a GraphQL document', query);
  if (!isAbsent(operationName) && typeof operationName !== 'string') {
    throw expected('operationName', 'a string', operationName);
  }
  if (!isAbsent(variables) && !isMap(variables)) throw expected('variables', 'an object', variables);
  if (!isAbsent(extensions) && !isMap(extensions)) throw expected('extensions', 'an object', extensions);
  return { query, operationName: operationName ?? undefined, variables: variables ?? undefined };
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the type of a JSON value in words: `null`, `an array`, `a number`, … */
function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const expected = (field: string, what: string, received: unknown) =>
  invalid(field, `Expected "${field}" to be ${what}; received ${describe(received)}.`);

const invalid = (field: string, message: string, cause?: unknown) =>
  new AppError('invalid_input', message, { field, cause });

export type GraphqlMediaType = 'application/graphql-response+json' | 'application/json';

/** The response type for each media range. A wildcard means `application/json`, as the specification requires. */
const RANGES: ReadonlyMap<string, GraphqlMediaType> = new Map([
  ['application/graphql-response+json', 'application/graphql-response+json'],
  ['application/json', 'application/json'],
  ['application/*', 'application/json'],
  ['*/*', 'application/json'],
]);

/**
 * Chooses the media type of the response: the accepted type with the highest weight, or the first of equals. Returns
 * `undefined` if no supported type is accepted.
 */
export function chooseMediaType(accept: string | undefined): GraphqlMediaType | undefined {
  const listed = accept === undefined || accept === '' ? undefined : RANGES.get(accept);
  if (listed || accept === undefined || accept.trim() === '') return listed ?? 'application/json';
  let best: { type: GraphqlMediaType; weight: number } | undefined;
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const type = RANGES.get(name);
    const weight = weightOf(parameters);
    if (type && weight > (best?.weight ?? 0)) best = { type, weight };
  }
  return best?.type;
}

/** Returns the weight of a media range; 0, which means "not acceptable", for a charset other than UTF-8. */
function weightOf(parameters: readonly string[]): number {
  const find = (name: string) =>
    parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
  if (!/^"?utf-?8"?$/.test(find('charset') ?? 'utf-8')) return 0;
  const weight = Number(find('q') ?? 1);
  return Number.isNaN(weight) ? 0 : weight;
}

/**
 * The longest query of a site has some hundred tokens, and the introspection query of GraphiQL 300. Parsing and
 * validating 4,000 tokens takes less than a tenth of a second for any document within the other limits.
 */
const MAX_TOKENS = 4000;

/** A parsed document needs about 50 bytes per character: 512 Ki characters are some 25 MiB. */
const CACHE_LIMITS = { max: 1000, maxSize: 512 * 1024, maxEntrySize: 32 * 1024 };

interface PreparedDocument {
  readonly document: DocumentNode;
  /** The validation errors; empty for a document that can be executed. */
  readonly errors: readonly GraphQLError[];
}

/**
 * Parses and validates a query.
 *
 * @throws GraphQLError for a syntax error or above a limit; AppError `invalid_input` for a document that can't be
 * parsed because of its depth or length.
 */
type PrepareDocument = (query: string) => PreparedDocument;

/** Creates a cache of the valid documents of one schema. Invalid documents would evict those that are repeated. */
export function createDocumentCache(options: ValidateDocumentOptions): PrepareDocument {
  const valid = new LRUCache<string, PreparedDocument>({
    ...CACHE_LIMITS,
    sizeCalculation: (_, query) => query.length,
  });
  return (query) => {
    const known = valid.get(query);
    if (known) return known;
    const prepared = check(query, options);
    if (prepared.errors.length === 0) valid.set(query, prepared);
    return prepared;
  };
}

function check(query: string, options: ValidateDocumentOptions): PreparedDocument {
  const document = read(query);
  const tokens = readTokens(document);
  assertBreadthLimits(document);
  return { document, errors: validateDocument(document, { ...options, rules: listRules(document, tokens) }) };
}

/** Returns the kinds of tokens in a document, and checks the lengths of its names. */
function readTokens(document: DocumentNode): ReadonlySet<TokenKind> {
  const [first] = document.definitions;
  const kinds = new Set<TokenKind>();
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
    kinds.add(token.kind);
    if (token.kind === TokenKind.NAME && first) assertLimit('nameLength', token.end - token.start, first);
  }
  return kinds;
}

const OPERATION_RULES = [UniqueOperationNamesRule, LoneAnonymousOperationRule];
const FRAGMENT_RULES = [
  ...[FragmentsOnCompositeTypesRule, UniqueFragmentNamesRule, KnownFragmentNamesRule, NoUnusedFragmentsRule],
  ...[PossibleFragmentSpreadsRule, NoFragmentCyclesRule],
];
const VARIABLE_RULES = [
  ...[VariablesAreInputTypesRule, UniqueVariableNamesRule, NoUndefinedVariablesRule, NoUnusedVariablesRule],
  ...[VariablesInAllowedPositionRule],
];
const DIRECTIVE_RULES = [KnownDirectivesRule, UniqueDirectivesPerLocationRule];

/**
 * Returns the rules that a document could violate. Each rule costs time at every node, and most documents have one
 * operation without fragments and directives.
 */
function listRules(document: DocumentNode, tokens: ReadonlySet<TokenKind>): readonly ValidationRule[] {
  const [operation, ...more] = document.definitions;
  if (more.length > 0 || operation?.kind !== Kind.OPERATION_DEFINITION) return specifiedRules;
  const [hasFragments, hasVariables] = [tokens.has(TokenKind.SPREAD), tokens.has(TokenKind.DOLLAR)];
  const unneeded = new Set<ValidationRule>([
    ...OPERATION_RULES,
    ...(hasFragments ? [] : FRAGMENT_RULES),
    ...(hasVariables ? [] : VARIABLE_RULES),
    // Only fragments and variables name types.
    ...(hasFragments || hasVariables ? [] : [KnownTypeNamesRule]),
    ...(tokens.has(TokenKind.AT) ? [] : DIRECTIVE_RULES),
    ...(operation.operation === OperationTypeNode.SUBSCRIPTION ? [] : [SingleFieldSubscriptionsRule]),
  ]);
  return specifiedRules.filter((rule) => !unneeded.has(rule));
}

function read(query: string): DocumentNode {
  try {
    return parse(query, { maxLexicalTokens: MAX_TOKENS });
  } catch (cause) {
    // The parser recurses, so a deeply nested document overflows the stack.
    if (cause instanceof RangeError) throw invalidDocument('The document is nested too deeply.', cause);
    if (!(cause instanceof GraphQLError) || !cause.message.endsWith('Parsing aborted.')) throw cause;
    const limit = `at most ${MAX_TOKENS} tokens (names, values and punctuation)`;
    throw invalidDocument(`Expected a document of ${limit}; received more.`, cause);
  }
}

const invalidDocument = (message: string, cause: Error) => new AppError('invalid_input', message, { cause });

interface ValidateDocumentOptions {
  readonly schema: GraphQLSchema;
  /** Whether queries may use introspection. */
  readonly introspection: boolean;
  /** Visits each document, beside the rules of GraphQL. */
  readonly rule?: ValidationRule;
  /** Returns a sentence that is added to an error in a document. */
  readonly hint?: (error: GraphQLError) => string | undefined;
}

const MAX_ERRORS = 100;

/** Returns the errors in a document in the order of validation, which stops after {@link MAX_ERRORS}. */
function validateDocument(
  document: DocumentNode,
  {
    schema,
    introspection,
    rule,
    hint,
    rules: specified,
  }: ValidateDocumentOptions & {
    rules: readonly ValidationRule[];
  },
): readonly GraphQLError[] {
  const rules = [...specified, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]), ...(rule ? [rule] : [])];
  const errors = validate(schema, document, rules, { maxErrors: MAX_ERRORS });
  return errors.flatMap((error) => {
    if (isIntrospection(error)) return toIntrospectionErrors(error);
    if (isAbort(error)) return explain(errors.length, document);
    const advice = hint?.(error);
    return advice === undefined ? error : withAdvice(error, advice);
  });
}

const withAdvice = ({ message, nodes }: GraphQLError, advice: string): GraphQLError =>
  new GraphQLError(`${message} ${advice}`, { nodes });

/** Returns whether the error means that graphql-js has aborted validation. */
const isAbort = ({ message, nodes }: GraphQLError): boolean => !nodes && message.endsWith('Validation aborted.');

function explain(errors: number, document: DocumentNode): GraphQLError {
  const [first = document] = document.definitions;
  if (errors > MAX_ERRORS) {
    return documentError(
      `The document has more than ${MAX_ERRORS} errors; only the first ${MAX_ERRORS} are listed.`,
      first,
    );
  }
  return documentError('The document repeats too many fields: validation stopped after 500,000 comparisons.', first);
}

const isIntrospection = ({ message }: GraphQLError): boolean => message.startsWith('GraphQL introspection has been');

/** Drops the errors that graphql-js adds for the fields inside of an introspection field. */
function toIntrospectionErrors({ nodes: [node] = [] }: GraphQLError): readonly GraphQLError[] {
  if (node?.kind !== Kind.FIELD || !node.name.value.startsWith('__')) return [];
  const message = `Introspection ("${node.name.value}") is disabled on this server.`;
  return [documentError(message, node, 'forbidden')];
}
