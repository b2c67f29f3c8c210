/** Rewrites documents of OpenAPI 3.0 as 3.1, and patterns as JavaScript has them. */
import { listObjects, type TypedNode } from './grammar.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  has,
  isRecord,
  recordMove,
  type ReportDiagnostic,
} from './nodes.js';
import { toUnicodePattern, translatePattern } from './patterns.js';
import { isFragment, resolveReferences } from './references.js';

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
  apply: (schema) => replacePattern(schema, toUnicodePattern),
};

function replacePattern(
  schema: Record<string, unknown>,
  replace: (pattern: string) => string | undefined,
): string | undefined {
  const replaced = typeof schema.pattern === 'string' ? replace(schema.pattern) : undefined;
  if (replaced === undefined) return undefined;
  schema.pattern = replaced;
  return 'pattern';
}

const DIALECT_CHANGE: Change = {
  message: 'Patterns with inline flags or other syntax of Java, Python and Ruby were written as JavaScript has them',
  apply: (schema) => replacePattern(schema, translatePattern),
};

/** References that other tools resolve within the schema around them, although they name a part of the document. */
const REFERENCE_CHANGES: readonly Change[] = [
  {
    message: '$recursiveRef of an earlier draft became a $ref to the schema with $recursiveAnchor',
    apply: (schema, place) => {
      if (schema.$recursiveAnchor !== true) return undefined;
      delete schema.$recursiveAnchor;
      pointTo(place, '$recursiveRef', '#', toPointer(place));
      return 'properties';
    },
  },
  {
    message: 'References to #/$defs became references to the $defs of the schema around them',
    apply: (_schema, place) => {
      const names = entries(child(place, '$defs')).map(([name]) => name);
      const counts = names.map((name) =>
        pointTo(place, '$ref', `#/$defs/${name}`, toPointer(child(child(place, '$defs'), name))),
      );
      return counts.includes(true) ? '$defs' : undefined;
    },
  },
];

/** Replaces the references in a schema that have a text. Returns whether there are any. */
function pointTo(schema: DocumentNode, keyword: string, text: string, target: string): boolean {
  const found = listObjects(schema, 'schema').flatMap(({ place: { value } }) =>
    isRecord(value) && value[keyword] === text ? [value] : [],
  );
  for (const value of found) {
    Reflect.deleteProperty(value, keyword);
    value.$ref = target;
  }
  return found.length > 0;
}

const toPointer = ({ path }: DocumentNode): string =>
  ['#', ...path.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')))].join('/');

/** `true` was a bound in the drafts before 6. */
const BOUND_CHANGES: readonly Change[] = [
  {
    message: 'OpenAPI 3.0: exclusiveMinimum: true became the bound itself',
    apply: (schema) => moveBound(schema, 'minimum', 'exclusiveMinimum'),
  },
  {
    message: 'OpenAPI 3.0: exclusiveMaximum: true became the bound itself',
    apply: (schema) => moveBound(schema, 'maximum', 'exclusiveMaximum'),
  },
];

/** Changes that documents of OpenAPI 3.1 need too: many of them have keywords of 3.0, which would mean nothing there. */
const COMMON_CHANGES: readonly Change[] = [PATTERN_CHANGE, DIALECT_CHANGE, ...NULLABLE_CHANGES, ...BOUND_CHANGES];

const SCHEMA_CHANGES: readonly Change[] = [
  {
    message: 'OpenAPI 3.0: fields beside $ref were dropped, as OpenAPI 3.0 ignores them',
    apply: (schema) => {
      const others = Object.keys(schema).filter((key) => key !== '$ref' && !key.startsWith('x-'));
      if (typeof schema.$ref !== 'string' || others.length === 0) return undefined;
      for (const key of others) Reflect.deleteProperty(schema, key);
      return '$ref';
    },
  },
  ...COMMON_CHANGES,
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
 * Resolves the references of a contract, and upgrades its documents of OpenAPI 3.0. Reports each kind of change once for a
 * document, at its first place, with the number of places.
 */
export function upgradeContract(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): void {
  const version = child(root, 'openapi').value;
  for (const place of sources.values())
    applyChanges(place, report, ({ name }) => (name === 'schema' ? REFERENCE_CHANGES : []));
  // The references say which parts of OpenAPI the files without a version are.
  resolveReferences(sources);
  for (const place of sources.values()) {
    if (isFragment(place)) applyChanges(place, report, isOld(version) ? listChanges : listCommonChanges);
    else upgradeDocument(place, report);
  }
}

const isOld = (version: unknown): boolean => typeof version === 'string' && /^3\.0\.\d+/.test(version);

function upgradeDocument(root: DocumentNode, report: ReportDiagnostic): void {
  const version: unknown = child(root, 'openapi').value;
  if (!isRecord(root.value) || typeof version !== 'string') return;
  const isUpgraded = isOld(version);
  if (isUpgraded || /^3\.2\.\d+/.test(version))
    report.warn(child(root, 'openapi'), `OpenAPI ${version} is read as 3.1.0.`);
  if (isUpgraded) root.value.openapi = '3.1.0';
  applyChanges(root, report, isUpgraded ? listChanges : listCommonChanges);
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

const listCommonChanges = ({ name }: TypedNode): readonly Change[] => (name === 'schema' ? COMMON_CHANGES : []);

function listChanges({ name, place }: TypedNode): readonly Change[] {
  if (name === 'mediaType' && has(place, 'schema') && !isMultipart(place)) return [MEDIA_CHANGE];
  return name === 'schema' ? SCHEMA_CHANGES : [];
}

const isMultipart = ({ path }: DocumentNode): boolean => path.at(-1)?.startsWith('multipart/') === true;
