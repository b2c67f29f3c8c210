/**
 * Prepares documents from elsewhere: rewrites OpenAPI 3.0 as 3.1, and fills in the parts that are often omitted, such as
 * names of operations, summaries, tags and servers.
 */
import { didYouMean } from '../documents.js';
import { camel } from '../output.js';
import { METHODS } from './contract.js';
import { listObjects, type TypedNode } from './grammar.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  isRecord,
  items,
  recordMove,
  type ReportDiagnostic,
} from './nodes.js';

interface Change {
  /** The outcome, for the report. */
  readonly message: string;
  /** Changes an object. Returns the field that it concerns if it did. */
  readonly apply: (value: Record<string, unknown>, place: DocumentNode) => string | undefined;
}

const NULLABLE_CHANGES: readonly Change[] = [
  {
    message: "OpenAPI 3.0: nullable: true became the type 'null'",
    apply: (schema, place) => {
      if (schema.nullable !== true || !allowNull(schema, place)) return undefined;
      delete schema.nullable;
      return 'nullable';
    },
  },
  {
    message: 'OpenAPI 3.0: nullable without a type was dropped, as it has no effect',
    apply: (schema) => {
      if (typeof schema.nullable !== 'boolean') return undefined;
      const hadEffect = schema.nullable;
      delete schema.nullable;
      return hadEffect ? 'nullable' : undefined;
    },
  },
];

const PATTERN_CHANGE: Change = {
  message: 'Patterns were written in the Unicode mode of JavaScript, which forbids needless escapes',
  apply: (schema) => {
    const unicode = typeof schema.pattern === 'string' ? toUnicodePattern(schema.pattern) : undefined;
    if (unicode === undefined) return undefined;
    schema.pattern = unicode;
    return 'pattern';
  },
};

/** The parts of a regular expression that Unicode mode may forbid, and those that they are told apart from. */
const PATTERN_PART = /\\[\s\S]|\{\d+(?:,\d*)?\}|\[\^?(?:\\[\s\S]|[^\\\]])*\]?|[{}\]]/g;

/**
 * Returns a pattern without Unicode mode as an equal one with it (ECMA-262, B.1.2): without needless escapes, and with
 * those of literal braces, brackets and hyphens. Returns `undefined` for one that has it already, or can't have it.
 */
export function toUnicodePattern(pattern: string): string | undefined {
  if (compiles(pattern, 'u') || !compiles(pattern, '')) return undefined;
  const written = pattern.replace(PATTERN_PART, (part) => {
    if (part.startsWith('\\')) return withoutNeedlessEscape(part, /[\dA-Za-z^$\\.*+?()[\]{}|/]/);
    if (part.startsWith('[')) return toUnicodeClass(part);
    return part.length === 1 ? `\\${part}` : part;
  });
  return compiles(written, 'u') ? written : undefined;
}

const withoutNeedlessEscape = (escape: string, needed: RegExp): string =>
  escape.length === 1 || needed.test(escape.charAt(1)) ? escape : escape.charAt(1);

const SET = /^\\[dDsSwW]$/;

/** Without Unicode mode, a hyphen beside a set such as `\w` is a character of its own. */
function toUnicodeClass(text: string): string {
  const atoms = text.match(/\\?[\s\S]/g) ?? [];
  const isSet = (index: number): boolean => SET.test(atoms[index] ?? '');
  return atoms
    .map((atom, index) => {
      if (atom === '-' && (isSet(index - 1) || isSet(index + 1))) return '\\-';
      return withoutNeedlessEscape(atom, /[\dA-Za-z^$\\.*+?()[\]{}|/-]/);
    })
    .join('');
}

function compiles(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

const SCHEMA_CHANGES: readonly Change[] = [
  PATTERN_CHANGE,
  {
    message: 'OpenAPI 3.0: fields beside $ref were dropped, as OpenAPI 3.0 ignores them',
    apply: (schema) => {
      const others = Object.keys(schema).filter((key) => key !== '$ref' && !key.startsWith('x-'));
      if (typeof schema.$ref !== 'string' || others.length === 0) return undefined;
      for (const key of others) Reflect.deleteProperty(schema, key);
      return '$ref';
    },
  },
  ...NULLABLE_CHANGES,
  {
    message: 'OpenAPI 3.0: exclusiveMinimum: true became the bound itself',
    apply: (schema) => moveBound(schema, 'minimum', 'exclusiveMinimum'),
  },
  {
    message: 'OpenAPI 3.0: exclusiveMaximum: true became the bound itself',
    apply: (schema) => moveBound(schema, 'maximum', 'exclusiveMaximum'),
  },
  {
    message: 'OpenAPI 3.0: format: byte became contentEncoding: base64',
    apply: (schema) => {
      if (schema.type !== 'string' || (schema.format !== 'byte' && schema.format !== 'base64')) return undefined;
      delete schema.format;
      schema.contentEncoding = 'base64';
      return 'format';
    },
  },
];

/** Adds null to the values of a schema. Returns whether the schema says anything that null does not fit. */
function allowNull(schema: Record<string, unknown>, place: DocumentNode): boolean {
  const hasType = typeof schema.type === 'string';
  const hasValues = Array.isArray(schema.enum);
  if (hasType) schema.type = [schema.type, 'null'];
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...(schema.enum as unknown[]), null];
  return allowNullBeside(place, schema) || hasType || hasValues;
}

const COMPOSITIONS = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * Makes null an alternative to the schemas that a value consists of: it would match no part of `allOf`, and several of
 * `oneOf` if they allow it too. Returns whether there are such schemas.
 */
function allowNullBeside(place: DocumentNode, schema: Record<string, unknown>): boolean {
  const found = COMPOSITIONS.filter((word) => Array.isArray(schema[word]));
  if (found.length === 0) return false;
  if (found.join(' ') === 'anyOf') {
    schema.anyOf = [...(schema.anyOf as unknown[]), { type: 'null' }];
    return true;
  }
  const moved = [...found, 'discriminator'].filter((word) => word in schema);
  const alternative = Object.fromEntries(moved.map((word) => [word, schema[word]]));
  for (const word of moved) Reflect.deleteProperty(schema, word);
  schema.anyOf = [alternative, { type: 'null' }];
  for (const word of moved)
    recordMove(child(child(child(place, 'anyOf'), 0), word), { source: place.source, path: [...place.path, word] });
  return true;
}

function moveBound(schema: Record<string, unknown>, bound: string, exclusive: string): string | undefined {
  if (typeof schema[exclusive] !== 'boolean') return undefined;
  const isExclusive = schema[exclusive];
  Reflect.deleteProperty(schema, exclusive);
  if (!isExclusive || schema[bound] === undefined) return undefined;
  schema[exclusive] = schema[bound];
  Reflect.deleteProperty(schema, bound);
  return exclusive;
}

/** A schema of `format: binary` says that the bytes are not text; in OpenAPI 3.1 their media type says so. */
const MEDIA_CHANGE: Change = {
  message: 'OpenAPI 3.0: format: binary became a body of bytes',
  apply: (media) => {
    const { schema } = media;
    if (!isRecord(schema) || schema.format !== 'binary') return undefined;
    media.schema = {};
    return 'schema';
  },
};

/**
 * Upgrades a document of OpenAPI 3.0. Reports each kind of change once, at its first place, with the number of places.
 * Other documents stay as they are.
 */
export function upgradeDocument(root: DocumentNode, report: ReportDiagnostic): void {
  const version: unknown = child(root, 'openapi').value;
  if (!isRecord(root.value) || typeof version !== 'string') return;
  if (/^3\.2\.\d+/.test(version)) report.warn(child(root, 'openapi'), `OpenAPI ${version} is read as 3.1.0.`);
  if (!/^3\.0\.\d+/.test(version)) {
    // Many documents of OpenAPI 3.1 still have `nullable`, which would mean nothing there.
    applyChanges(root, report, ({ name }) => (name === 'schema' ? [...NULLABLE_CHANGES, PATTERN_CHANGE] : []));
    return;
  }
  report.warn(child(root, 'openapi'), `OpenAPI ${version} is read as 3.1.0.`);
  root.value.openapi = '3.1.0';
  applyChanges(root, report, listChanges);
}

function applyChanges(
  root: DocumentNode,
  report: ReportDiagnostic,
  listChanges: (object: TypedNode) => readonly Change[],
): void {
  const found = new Map<string, DocumentNode[]>();
  for (const object of listObjects(root)) {
    for (const { message, apply } of listChanges(object)) {
      const place = object.place;
      const key = isRecord(place.value) ? apply(place.value, place) : undefined;
      if (key !== undefined) found.set(message, [...(found.get(message) ?? []), child(place, key)]);
    }
  }
  for (const [message, places] of found) {
    const count = places.length === 1 ? '1 place' : `${places.length} places`;
    const [first] = places;
    if (first !== undefined) report.warn(first, `${message} (${count}).`, 'key');
  }
}

function listChanges({ name, place }: TypedNode): readonly Change[] {
  if (name === 'mediaType' && has(place, 'schema') && !isMultipart(place)) return [MEDIA_CHANGE];
  return name === 'schema' ? SCHEMA_CHANGES : [];
}

const isMultipart = ({ path }: DocumentNode): boolean => path.at(-1)?.startsWith('multipart/') === true;

/** OpenAPI ignores header parameters with these names, as other parts of a document describe them. */
const RESERVED_HEADERS = ['accept', 'authorization', 'content-type'];

/** Removes the parameters that have no effect. The others keep the places at which they are written. */
function dropReservedHeaders(sources: ContractSources, parent: DocumentNode, report: ReportDiagnostic): void {
  const parameters = items(child(parent, 'parameters'));
  const kept = parameters.filter((mention) => {
    const place = follow(sources, mention);
    const name = (place && findTextField(place, 'name')) ?? '';
    if (place === undefined || child(place, 'in').value !== 'header') return true;
    if (!RESERVED_HEADERS.includes(name.toLowerCase())) return true;
    report.warn(child(place, 'name'), `The parameter "${name}" has no effect: the server reads this header itself.`);
    return false;
  });
  if (kept.length === parameters.length) return;
  (parent.value as Record<string, unknown>).parameters = kept.map(({ value }) => value);
  for (const [index, written] of kept.entries()) recordMove(child(child(parent, 'parameters'), index), written);
}

/** Completes a contract, with a warning for each value that had to be derived. Changes the value of the document. */
export function completeContract(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): void {
  if (!isRecord(root.value)) return;
  if (has(root, 'webhooks')) root.value.paths ??= {};
  completeServers(root, root.value, report);
  const tags = new Set(items(child(root, 'tags')).flatMap((tag) => findTextField(tag, 'name') ?? []));
  const declared = tags.size;
  const ids = new Set<unknown>(listOwnIds(root));
  for (const [path, item] of entries(child(root, 'paths'))) {
    if (path.startsWith('x-')) Reflect.deleteProperty(child(root, 'paths').value as object, path);
    dropReservedHeaders(sources, item, report);
    for (const method of METHODS) {
      const place = child(item, method);
      if (!isRecord(place.value)) continue;
      dropReservedHeaders(sources, place, report);
      const operation = { method, path, place, value: place.value };
      completeId(operation, ids, report);
      ids.add(operation.value.operationId);
      completeSummary(operation, report);
      completePathParameters(sources, operation, item, report);
      completeTags(operation, tags, report);
      completeResponses(operation, report);
      if (!has(place, 'security') && !has(root, 'security'))
        report.warn(
          place,
          'The operation has no security, so anyone may call it. Use [] for a public operation.',
          'key',
        );
    }
  }
  const derived = [...tags].slice(declared).map((name) => ({ name }));
  const own = Array.isArray(root.value.tags) ? (root.value.tags as unknown[]) : [];
  if (derived.length > 0) root.value.tags = [...own, ...derived];
}

interface NewOperation {
  readonly method: string;
  readonly path: string;
  readonly place: DocumentNode;
  readonly value: Record<string, unknown>;
}

function completeServers(root: DocumentNode, value: Record<string, unknown>, report: ReportDiagnostic): void {
  if (!has(root, 'paths') || (has(root, 'servers') && items(child(root, 'servers')).length > 0)) return;
  report.warn(
    has(root, 'servers') ? child(root, 'servers') : child(root, 'info'),
    'The contract has no servers; its base path is /.',
    'key',
  );
  value.servers = [{ url: '/' }];
}

const IS_NAME = /^[a-z][A-Za-z0-9]*$/;

/** Lists the ids of operations that keep them. */
const listOwnIds = (root: DocumentNode): string[] =>
  entries(child(root, 'paths')).flatMap(([, item]) =>
    METHODS.map((method) => findTextField(child(item, method), 'operationId') ?? '').filter((id) => IS_NAME.test(id)),
  );

function toFreeId(base: string, taken: ReadonlySet<unknown>): string {
  let count = 1;
  while (taken.has(count === 1 ? base : `${base}${count}`)) count += 1;
  return count === 1 ? base : `${base}${count}`;
}

function completeId(
  { method, path, place, value }: NewOperation,
  taken: ReadonlySet<unknown>,
  report: ReportDiagnostic,
): void {
  const id = value.operationId;
  if (id === undefined) {
    const name = toFreeId(deriveId(method, path), taken);
    value.operationId = name;
    report.warn(place, `The operation has no operationId; its handler is ${name}.`, 'key');
    return;
  }
  if (typeof id !== 'string' || IS_NAME.test(id)) return;
  const base = camel(toAscii(id));
  if (!IS_NAME.test(base)) return;
  const name = toFreeId(base, taken);
  value.operationId = name;
  report.warn(
    child(place, 'operationId'),
    `The operationId "${id}" is not a camelCase name such as listTokens; its handler is ${name}.`,
  );
}

/** Returns a name such as `getPetsByPetId` for `get /pets/{petId}`. */
function deriveId(method: string, path: string): string {
  return camel(toAscii(`${method} ${path.replace(/\{([^{}]*)\}/g, ' by $1 ').replace(/([A-Z])/g, ' $1')}`));
}

/** Names of operations have letters of ASCII only. */
const toAscii = (text: string): string => text.replaceAll(/[^ -~]+/gu, ' ');

function completeSummary({ method, path, place, value }: NewOperation, report: ReportDiagnostic): void {
  if (value.summary !== undefined) return;
  const [sentence = ''] = (findTextField(place, 'description') ?? '').trim().split(/\n|(?<=\.)\s/);
  value.summary = sentence === '' ? `${method.toUpperCase()} ${path}` : sentence.replace(/\.$/, '');
  report.warn(place, 'The operation has no summary.', 'key');
}

/** Since OpenAPI 3.1, an operation need not have responses. */
function completeResponses({ place, value }: NewOperation, report: ReportDiagnostic): void {
  if (value.responses !== undefined) return;
  value.responses = { default: { description: 'The contract does not describe the responses.' } };
  report.warn(place, 'The operation has no responses, so its handler can send any status, without a body.', 'key');
}

/** Declares the parameters of a path that the operation does not, unless it declares one that may be meant. */
function completePathParameters(
  sources: ContractSources,
  { path, place, value }: NewOperation,
  item: DocumentNode,
  report: ReportDiagnostic,
): void {
  const written = [item, place].flatMap((parent) => items(child(parent, 'parameters')));
  const followed = written.map((mention) => follow(sources, mention));
  const declared = followed.flatMap((parameter) =>
    parameter && child(parameter, 'in').value === 'path' ? [findTextField(parameter, 'name') ?? ''] : [],
  );
  const names = listParameterNames(path);
  if (followed.includes(undefined) || !declared.every((name) => names.includes(name))) return;
  for (const name of names.filter((text) => !declared.includes(text))) {
    const parameter = { name, in: 'path', required: true, schema: { type: 'string' } };
    value.parameters = [...(Array.isArray(value.parameters) ? (value.parameters as unknown[]) : []), parameter];
    report.warn(place, `The operation does not declare the path parameter "${name}", which is text.`, 'key');
  }
}

/** Lists the names of the parameters in a path such as `/items/{id}`. */
export const listParameterNames = (path: string): string[] =>
  [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name);

function completeTags({ path, place, value }: NewOperation, tags: Set<string>, report: ReportDiagnostic): void {
  const own = value.tags;
  if (own === undefined || (Array.isArray(own) && own.length === 0)) {
    const name = path.split('/').find((segment) => /^[A-Za-z]\w*$/.test(segment)) ?? 'default';
    const known = [...tags].find((tag) => tag.toLowerCase() === name.toLowerCase()) ?? name;
    value.tags = [known];
    tags.add(known);
    report.warn(place, `The operation has no tag; its handler is in the group "${known}".`, 'key');
    return;
  }
  for (const tag of items(child(place, 'tags'))) {
    if (typeof tag.value !== 'string' || tags.has(tag.value)) continue;
    report.warn(tag, `Expected one of the contract's tags; received "${tag.value}".${didYouMean(tag.value, tags)}`);
    tags.add(tag.value);
  }
}
