import type {
  ObjectField,
  RecordField,
  RelationField,
  ScalarCodecs,
  ScalarField,
  ScalarType,
} from '@trellis/core/record-types';
import { normalizeDate } from '../../query/dates.js';
import { formatNulls, NULLS } from '../../records/record-schema.js';
import { findKey, pathKey } from './content-entry.js';
import type { ParsedEntry } from './content-parser.js';

export type ColumnValue = number | string | null;

/** A value that does not match the schema. */
export interface RecordFieldError {
  readonly path: string;
  /** The path of the value in its entry. */
  readonly at: readonly (number | string)[];
  /** The expected and the received value. */
  readonly message: string;
}

export interface ValidatedRecord {
  /** The values by column, or `undefined` if a required value is missing or invalid. */
  readonly row: Readonly<Record<string, ColumnValue>> | undefined;
  readonly misfits: readonly RecordFieldError[];
}

export interface ValidationOptions {
  /** Converts the value of a link to the value of its column. Returns `undefined` if there is no such record. */
  readonly toLinkKey: (field: RelationField, text: string) => string | undefined;
  /** The codecs of the scalars of the application. */
  readonly codecs: ScalarCodecs;
}

/** Fields that files cannot set. */
const NODE_FIELDS: ReadonlySet<string> = new Set(['children', 'id', 'internal', 'parent']);

type Path = readonly (number | string)[];

/**
 * Validates an entry of a file against the fields of its record type. An invalid value is reported and replaced by
 * null; if its field is not nullable, the whole record is left out. Unknown keys are ignored.
 */
export function validateRecord(
  fields: readonly RecordField[],
  entry: ParsedEntry,
  options: ValidationOptions,
): ValidatedRecord {
  const validation = new Validation(entry, options);
  const values = entry.body === undefined ? entry.values : { body: entry.body, ...entry.values };
  validation.checkFields(
    fields.filter(({ name }) => !NODE_FIELDS.has(name)),
    values,
    [],
  );
  const row = { ...validation.row, [NULLS]: formatNulls([...validation.nulls]) };
  return { row: validation.isComplete ? row : undefined, misfits: validation.misfits };
}

class Validation {
  readonly row: Record<string, ColumnValue> = {};
  readonly misfits: RecordFieldError[] = [];
  /** The paths of fields that are null, and of objects without values. */
  readonly nulls = new Set<string>();
  readonly nullObjects = new Set<string>();
  isComplete = true;
  readonly #entry: ParsedEntry;
  readonly #options: ValidationOptions;

  constructor(entry: ParsedEntry, options: ValidationOptions) {
    this.#entry = entry;
    this.#options = options;
  }

  checkFields(fields: readonly RecordField[], values: Readonly<Record<string, unknown>>, at: Path): void {
    for (const field of fields) {
      const names = pathFieldOf(field)?.split('.') ?? [field.name];
      let value: unknown = values;
      const keys = names.map((name) => {
        // Inherited properties, such as `constructor`, are no values.
        const key = isObject(value) ? findKey(value, name) : undefined;
        value = isObject(value) && key !== undefined ? value[key] : undefined;
        return key ?? name;
      });
      this.#checkField(field, value, [...at, ...keys]);
    }
  }

  #checkField(field: RecordField, value: unknown, at: Path): void {
    switch (field.kind) {
      case 'scalar':
        // An alias has no column of its own.
        if (field.column === field.path) this.row[field.column] = this.#checkScalarField(field, value, at);
        return;
      case 'object':
        this.#checkObjectField(field, value, at);
        return;
      case 'relation':
        this.#checkLink(field, value, at);
        return;
      case 'computed':
    }
  }

  #checkScalarField(field: ScalarField, value: unknown, at: Path): ColumnValue {
    if (value === undefined || value === null) return this.#absent(field, value, at);
    if (!field.list) return this.#checkScalar(field, value, at) ?? this.#absent(field, undefined, at, false);
    const items = this.#toItems(field, value, at);
    if (items === undefined) return this.#absent(field, undefined, at, false);
    const parsed = items.map((item, index) => this.#checkScalar(field, item, [...at, index]));
    return JSON.stringify(parsed.filter((item) => item !== undefined));
  }

  #checkScalar(field: ScalarField, value: unknown, at: Path): number | string | undefined {
    const { type, path, values, declared } = field;
    if (declared !== undefined && values === undefined) return this.#decode(field, declared, value, at);
    const written = type === 'String' || type === 'ID' ? this.#writtenAt(at) : undefined;
    const parsed = written ?? (this.#entry.textOnly && typeof value === 'string' ? FROM_TEXT : FROM_VALUE)[type](value);
    const isValid = parsed !== undefined && (values?.includes(String(parsed)) ?? true);
    if (!isValid) this.#report(path, at, values ? `one of ${values.join(', ')}` : WANTED[type], value);
    return isValid ? parsed : undefined;
  }

  /** Returns the text of a number or boolean as it stands in the file, if it differs from that of JavaScript. */
  #writtenAt(at: Path): string | undefined {
    return this.#entry.written?.[pathKey(at)];
  }

  /** Converts a value of a scalar of the application, whose codec says what it expected. */
  #decode({ type, path }: ScalarField, scalar: string, value: unknown, at: Path): number | string | undefined {
    const codec = this.#options.codecs[scalar];
    if (codec === undefined) throw new Error(`The scalar ${scalar} has no codec.`);
    try {
      const stored = codec.parse(value);
      const isStorable = type === 'Int' ? Number.isSafeInteger(stored) : FROM_VALUE[type](stored) === stored;
      if (isStorable) return stored as number | string;
      this.#report(path, at, `the codec of ${scalar} to return ${type}`, stored);
    } catch (error) {
      this.#reportText(path, at, error instanceof Error ? error.message : String(error));
    }
    return undefined;
  }

  #checkObjectField(field: ObjectField, value: unknown, at: Path): void {
    if (field.list) {
      this.row[field.path] = this.#checkObjects(field, value, at);
    } else if (isObject(value)) {
      this.checkFields(field.fields, value, at);
      if (!this.#hasValues(field)) this.nulls.add(field.path);
    } else {
      if (value !== undefined && value !== null) this.#report(field.path, at, 'an object', value);
      this.#absent(field, value, at, value === undefined || value === null);
      // Only an object without values has an entry. Below an object that is null, all fields are missing.
      if (this.nulls.delete(field.path)) this.nullObjects.add(field.path);
    }
  }

  #hasValues(field: ObjectField): boolean {
    return field.fields.some((inner) =>
      inner.kind === 'object' && !inner.list
        ? this.#hasValues(inner)
        : inner.kind !== 'computed' && (this.row[inner.path] ?? null) !== null,
    );
  }

  #checkObjects(field: ObjectField, value: unknown, at: Path): ColumnValue {
    if (value === undefined || value === null) return this.#absent(field, value, at);
    const items = this.#toItems(field, value, at);
    if (items === undefined) return this.#absent(field, undefined, at, false);
    const objects: Record<string, unknown>[] = [];
    for (const [index, item] of items.entries()) {
      if (isObject(item)) objects.push(this.#checkElement(field, item, [...at, index]));
      else this.#report(field.path, [...at, index], 'an object', item);
    }
    return JSON.stringify(objects);
  }

  /** Columns are named by the path from the record; the JSON text of an element uses only its own field names. */
  #checkElement(field: ObjectField, item: Readonly<Record<string, unknown>>, at: Path): Record<string, unknown> {
    const inner = new Validation(this.#entry, this.#options);
    inner.checkFields(field.fields, item, at);
    this.misfits.push(...inner.misfits);
    if (!inner.isComplete) this.isComplete = false;
    return nest(inner, field);
  }

  #checkLink(field: RelationField, value: unknown, at: Path): void {
    if (field.relation.by !== 'link' || field.relation.from !== field.path) return;
    if (value === undefined || value === null) {
      this.row[field.path] = this.#absent(field, value, at);
      return;
    }
    const items = field.list ? this.#toItems(field, value, at) : [value];
    const keys = (items ?? []).flatMap((item, index) => this.#toKey(field, item, field.list ? [...at, index] : at));
    if (field.list) this.row[field.path] = JSON.stringify(keys);
    else this.row[field.path] = keys[0] ?? this.#absent(field, undefined, at, false);
  }

  #toKey(field: RelationField, item: unknown, at: Path): string[] {
    const isText = typeof item === 'string' || typeof item === 'number';
    const text = this.#writtenAt(at) ?? String(item);
    const key = isText ? this.#options.toLinkKey(field, text) : undefined;
    if (key !== undefined) return [key];
    this.#report(field.path, at, isText ? wantedPath(field.type, text) : `text that identifies a ${field.type}`, item);
    return [];
  }

  #toItems(field: RecordField, value: unknown, at: Path): readonly unknown[] | undefined {
    if (Array.isArray(value)) return value as readonly unknown[];
    if (this.#entry.textOnly && typeof value === 'string') return value.split(';').map((item) => item.trim());
    this.#report(field.path, at, 'a list', value);
    return undefined;
  }

  /** Returns null for a nullable field, and an empty list for an absent non-null list. */
  #absent(field: RecordField, value: unknown, at: Path, report = true): ColumnValue {
    if (field.nullable) {
      if (value === null || !report) this.nulls.add(field.path);
      return null;
    }
    if (field.list && report) return '[]';
    if (report) this.#report(field.path, at, 'a value that is not null', value);
    this.isComplete = false;
    return null;
  }

  #report(path: string, at: Path, wanted: string, value: unknown): void {
    // The key `<<` of YAML is a symbol, which JSON leaves out.
    const received = (JSON.stringify(value) as string | undefined)?.slice(0, 60) ?? 'nothing';
    this.#reportText(path, at, `expected ${wanted}; received ${received}.`);
  }

  #reportText(path: string, at: Path, message: string): void {
    this.misfits.push({ path, at, message: `${formatPath(at)}: ${message}` });
  }
}

const WANTED: Readonly<Record<ScalarType, string>> = {
  Boolean: 'true or false',
  Date: 'a date such as 2026-07-08 or 8 July 2026',
  Float: 'a number',
  ID: 'text',
  Int: 'a 32-bit whole number',
  String: 'text',
};

/** Sites of other tools have paths from their folder `public`, and aliases of folders. */
function wantedPath(type: string, text: string): string {
  if (text.startsWith('/')) return `the path of a ${type} below the folder of the source, as it begins with a slash`;
  return /^[~@]\//.test(text)
    ? `the path of a ${type}, or one that begins with an alias of the site's configuration`
    : `the path of a ${type}`;
}

type ParseScalar = (value: unknown) => number | string | undefined;

const asText: ParseScalar = (value) => {
  if (typeof value === 'string') return value;
  // In YAML, TOML and JSON, a version or a year without quotes is a number, but is meant as text.
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
};
const asFloat: ParseScalar = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const asInt: ParseScalar = (value) => (typeof value === 'number' && (value | 0) === value ? value : undefined);
const asBoolean: ParseScalar = (value) => (typeof value === 'boolean' ? Number(value) : undefined);

const FROM_VALUE: Readonly<Record<ScalarType, ParseScalar>> = {
  Boolean: asBoolean,
  Date: normalizeDate,
  Float: asFloat,
  ID: asText,
  Int: asInt,
  String: asText,
};

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const toNumber = (value: unknown): unknown => (NUMBER.test(String(value)) ? Number(value) : undefined);
const toBoolean = (value: unknown): unknown => ({ true: true, false: false })[String(value).toLowerCase()];

const FROM_TEXT: Readonly<Record<ScalarType, ParseScalar>> = {
  ...FROM_VALUE,
  Boolean: (value) => asBoolean(toBoolean(value)),
  Float: (value) => asFloat(toNumber(value)),
  Int: (value) => asInt(toNumber(value)),
};

/** Returns the JSON of an element, in which a missing value has no key. */
function nest(
  element: Pick<Validation, 'row' | 'nulls' | 'nullObjects'>,
  { fields }: ObjectField,
): Record<string, unknown> {
  const nested: Record<string, unknown> = {};
  for (const field of fields) {
    const isNull = element.nulls.has(field.path);
    if (field.kind === 'object' && !field.list) {
      const inner = nest(element, field);
      if (isNull || Object.keys(inner).length > 0) nested[field.name] = inner;
      else if (element.nullObjects.has(field.path)) nested[field.name] = null;
    } else {
      const value = element.row[field.path] ?? null;
      if (isNull || value !== null) nested[field.name] = fromColumn(field, value);
    }
  }
  return nested;
}

function fromColumn(field: RecordField, value: ColumnValue): unknown {
  if (field.list && typeof value === 'string') return JSON.parse(value) as unknown;
  return field.kind === 'scalar' && field.type === 'Boolean' && value !== null ? value === 1 : value;
}

function formatPath(at: Path): string {
  return at
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

const pathFieldOf = (field: RecordField): string | undefined =>
  field.kind === 'relation' && field.relation.by === 'link' ? field.relation.pathField : undefined;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
