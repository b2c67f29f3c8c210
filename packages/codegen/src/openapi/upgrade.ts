/** Documents of OpenAPI 3.0, which are read as OpenAPI 3.1. */
import { child, type DocumentNode, has, isRecord, type ReportDiagnostic } from './nodes.js';
import { listObjects, type TypedNode } from './walk.js';

interface Change {
  /** The outcome, for the report. */
  readonly message: string;
  /** Changes an object. Returns the field that it concerns if it did. */
  readonly apply: (value: Record<string, unknown>) => string | undefined;
}

const NULLABLE_CHANGES: readonly Change[] = [
  {
    message: "nullable: true became the type 'null'",
    apply: (schema) => {
      if (schema.nullable !== true || !allowNull(schema)) return undefined;
      delete schema.nullable;
      return 'nullable';
    },
  },
  {
    message: 'nullable without a type was dropped, as it has no effect',
    apply: (schema) => {
      if (typeof schema.nullable !== 'boolean') return undefined;
      const hadEffect = schema.nullable;
      delete schema.nullable;
      return hadEffect ? 'nullable' : undefined;
    },
  },
];

const SCHEMA_CHANGES: readonly Change[] = [
  {
    message: 'fields beside $ref were dropped, as OpenAPI 3.0 ignores them',
    apply: (schema) => {
      const others = Object.keys(schema).filter((key) => key !== '$ref' && !key.startsWith('x-'));
      if (typeof schema.$ref !== 'string' || others.length === 0) return undefined;
      for (const key of others) Reflect.deleteProperty(schema, key);
      return '$ref';
    },
  },
  ...NULLABLE_CHANGES,
  {
    message: 'exclusiveMinimum: true became the bound itself',
    apply: (schema) => moveBound(schema, 'minimum', 'exclusiveMinimum'),
  },
  {
    message: 'exclusiveMaximum: true became the bound itself',
    apply: (schema) => moveBound(schema, 'maximum', 'exclusiveMaximum'),
  },
  {
    message: 'format: byte became contentEncoding: base64',
    apply: (schema) => {
      if (schema.type !== 'string' || (schema.format !== 'byte' && schema.format !== 'base64')) return undefined;
      delete schema.format;
      schema.contentEncoding = 'base64';
      return 'format';
    },
  },
];

/** Adds null to the values of a schema. Returns whether the schema says anything that null does not fit. */
function allowNull(schema: Record<string, unknown>): boolean {
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...(schema.enum as unknown[]), null];
  if (typeof schema.type === 'string') {
    schema.type = [schema.type, 'null'];
    return true;
  }
  for (const word of ['oneOf', 'anyOf']) {
    if (!Array.isArray(schema[word])) continue;
    schema[word] = [...(schema[word] as unknown[]), { type: 'null' }];
    return true;
  }
  if (!Array.isArray(schema.allOf)) return Array.isArray(schema.enum);
  schema.anyOf = [{ allOf: schema.allOf }, { type: 'null' }];
  delete schema.allOf;
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
  message: 'format: binary became a body of bytes',
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
    // Many documents of OpenAPI 3.1 still have the keyword, which would mean nothing there.
    applyChanges(root, report, ({ name }) => (name === 'schema' ? NULLABLE_CHANGES : []));
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
      const key = isRecord(place.value) ? apply(place.value) : undefined;
      if (key !== undefined) found.set(message, [...(found.get(message) ?? []), child(place, key)]);
    }
  }
  for (const [message, places] of found) {
    const count = places.length === 1 ? '1 place' : `${places.length} places`;
    const [first] = places;
    if (first !== undefined) report.warn(first, `OpenAPI 3.0: ${message} (${count}).`, 'key');
  }
}

function listChanges({ name, place }: TypedNode): readonly Change[] {
  if (name === 'mediaType' && has(place, 'schema') && !isMultipart(place)) return [MEDIA_CHANGE];
  return name === 'schema' ? SCHEMA_CHANGES : [];
}

const isMultipart = ({ path }: DocumentNode): boolean => path.at(-1)?.startsWith('multipart/') === true;
