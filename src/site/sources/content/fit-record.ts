import { DateTime } from 'luxon';
import type { Field, ObjectField, RelationField, ScalarField, ScalarType } from '../../fields.js';
import type { ParsedEntry } from './content-parser.js';

export type ColumnValue = number | string | null;

/** A value that is not what the schema says. */
export interface Misfit {
  readonly path: string;
  /** Where it stands in its entry. */
  readonly at: readonly (number | string)[];
  /** What was expected, what came. */
  readonly message: string;
}

export interface FittedRecord {
  /** By column; `undefined` when a value is missing that may not be. */
  readonly row: Readonly<Record<string, ColumnValue>> | undefined;
  readonly misfits: readonly Misfit[];
}

export interface FitOptions {
  /** What the column of a link holds for the text that the file holds; `undefined` when that names nothing. */
  readonly toLinkKey: (field: RelationField, text: string) => string | undefined;
}

/** Fields that every record has of its own, whatever the file says. */
const NODE_FIELDS: ReadonlySet<string> = new Set(['children', 'id', 'internal', 'parent']);

type Path = readonly (number | string)[];

/**
 * Holds one entry of a file to the fields of its kind. A value that does not fit is reported, and is null where it
 * may be; where it may not, the whole record is left out. Keys that the schema does not name are passed over.
 */
export function fitRecord(fields: readonly Field[], entry: ParsedEntry, options: FitOptions): FittedRecord {
  const fitting = new Fitting(entry, options);
  const values = entry.body === undefined ? entry.values : { body: entry.body, ...entry.values };
  fitting.fitFields(
    fields.filter(({ name }) => !NODE_FIELDS.has(name)),
    values,
    [],
  );
  return { row: fitting.isComplete ? fitting.row : undefined, misfits: fitting.misfits };
}

class Fitting {
  readonly row: Record<string, ColumnValue> = {};
  readonly misfits: Misfit[] = [];
  isComplete = true;
  readonly #entry: ParsedEntry;
  readonly #options: FitOptions;

  constructor(entry: ParsedEntry, options: FitOptions) {
    this.#entry = entry;
    this.#options = options;
  }

  fitFields(fields: readonly Field[], values: Readonly<Record<string, unknown>>, at: Path): void {
    for (const field of fields) this.#fitField(field, own(values, field.name), [...at, field.name]);
  }

  #fitField(field: Field, value: unknown, at: Path): void {
    switch (field.kind) {
      case 'scalar':
        // An alias has no value of its own.
        if (field.column === field.path) this.row[field.column] = this.#fitScalarField(field, value, at);
        return;
      case 'object':
        this.#fitObjectField(field, value, at);
        return;
      case 'relation':
        this.#fitLink(field, value, at);
        return;
      case 'computed':
    }
  }

  #fitScalarField(field: ScalarField, value: unknown, at: Path): ColumnValue {
    if (value === undefined || value === null) return this.#absent(field, value, at);
    if (!field.list) return this.#fitScalar(field, value, at) ?? this.#absent(field, undefined, at, false);
    const items = this.#toItems(field, value, at);
    if (items === undefined) return this.#absent(field, undefined, at, false);
    const fitted = items.map((item, index) => this.#fitScalar(field, item, [...at, index]));
    return JSON.stringify(fitted.filter((item) => item !== undefined));
  }

  #fitScalar({ type, path, values }: ScalarField, value: unknown, at: Path): number | string | undefined {
    const fitted = (this.#entry.textOnly && typeof value === 'string' ? FROM_TEXT : FROM_VALUE)[type](value);
    const isFit = fitted !== undefined && (values?.includes(String(fitted)) ?? true);
    if (!isFit) this.#report(path, at, values ? `one of ${values.join(', ')}` : WANTED[type], value);
    return isFit ? fitted : undefined;
  }

  #fitObjectField(field: ObjectField, value: unknown, at: Path): void {
    if (field.list) {
      this.row[field.path] = this.#fitObjects(field, value, at);
    } else if (isObject(value)) {
      this.fitFields(field.fields, value, at);
    } else {
      if (value !== undefined && value !== null) this.#report(field.path, at, 'an object', value);
      this.#absent(field, value, at, value === undefined || value === null);
    }
  }

  #fitObjects(field: ObjectField, value: unknown, at: Path): ColumnValue {
    if (value === undefined || value === null) return this.#absent(field, value, at);
    const items = this.#toItems(field, value, at);
    if (items === undefined) return this.#absent(field, undefined, at, false);
    const objects: Record<string, unknown>[] = [];
    for (const [index, item] of items.entries()) {
      if (isObject(item)) objects.push(this.#fitElement(field, item, [...at, index]));
      else this.#report(field.path, [...at, index], 'an object', item);
    }
    return JSON.stringify(objects);
  }

  /** An element's columns are named from the record down; inside the JSON text its own names are enough. */
  #fitElement(field: ObjectField, item: Readonly<Record<string, unknown>>, at: Path): Record<string, unknown> {
    const inner = new Fitting(this.#entry, this.#options);
    inner.fitFields(field.fields, item, at);
    this.misfits.push(...inner.misfits);
    if (!inner.isComplete) this.isComplete = false;
    return nest(inner.row, field);
  }

  #fitLink(field: RelationField, value: unknown, at: Path): void {
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
    const key = isText ? this.#options.toLinkKey(field, String(item)) : undefined;
    if (key !== undefined) return [key];
    this.#report(field.path, at, isText ? `the path of a ${field.type}` : `the text that names a ${field.type}`, item);
    return [];
  }

  #toItems(field: Field, value: unknown, at: Path): readonly unknown[] | undefined {
    if (Array.isArray(value)) return value as readonly unknown[];
    if (this.#entry.textOnly && typeof value === 'string') return value.split(';').map((item) => item.trim());
    this.#report(field.path, at, 'a list', value);
    return undefined;
  }

  /** Null where the field may be; an absent list that may not be null is empty. */
  #absent(field: Field, value: unknown, at: Path, report = true): ColumnValue {
    if (field.nullable) return null;
    if (field.list && report) return '[]';
    if (report) this.#report(field.path, at, 'a value, which may not be null', value);
    this.isComplete = false;
    return null;
  }

  #report(path: string, at: Path, wanted: string, value: unknown): void {
    const received = value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 60);
    this.misfits.push({ path, at, message: `${formatPath(at)}: expected ${wanted}; received ${received}.` });
  }
}

const WANTED: Readonly<Record<ScalarType, string>> = {
  Boolean: 'true or false',
  Date: 'a date of ISO 8601',
  Float: 'a number',
  ID: 'text',
  Int: 'a whole number of 32 bits',
  String: 'text',
};

type FitScalar = (value: unknown) => number | string | undefined;

const fitText: FitScalar = (value) => {
  if (typeof value === 'string') return value;
  // YAML and JSON write a version or a year without quotes; as text it is meant as it stands.
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
};
const fitFloat: FitScalar = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const fitInt: FitScalar = (value) => (typeof value === 'number' && (value | 0) === value ? value : undefined);
const fitBoolean: FitScalar = (value) => (typeof value === 'boolean' ? Number(value) : undefined);
const fitDate: FitScalar = (value) =>
  typeof value === 'string' && DateTime.fromISO(value).isValid ? value : undefined;

const FROM_VALUE: Readonly<Record<ScalarType, FitScalar>> = {
  Boolean: fitBoolean,
  Date: fitDate,
  Float: fitFloat,
  ID: fitText,
  Int: fitInt,
  String: fitText,
};

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const toNumber = (value: unknown): unknown => (NUMBER.test(String(value)) ? Number(value) : undefined);
const toBoolean = (value: unknown): unknown => ({ true: true, false: false })[String(value).toLowerCase()];

const FROM_TEXT: Readonly<Record<ScalarType, FitScalar>> = {
  ...FROM_VALUE,
  Boolean: (value) => fitBoolean(toBoolean(value)),
  Float: (value) => fitFloat(toNumber(value)),
  Int: (value) => fitInt(toNumber(value)),
};

function nest(row: Readonly<Record<string, ColumnValue>>, { fields }: ObjectField): Record<string, unknown> {
  const nested: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.kind === 'object' && !field.list) nested[field.name] = nest(row, field);
    else nested[field.name] = fromColumn(field, row[field.path] ?? null);
  }
  return nested;
}

function fromColumn(field: Field, value: ColumnValue): unknown {
  if (field.list && typeof value === 'string') return JSON.parse(value) as unknown;
  return field.kind === 'scalar' && field.type === 'Boolean' && value !== null ? value === 1 : value;
}

function formatPath(at: Path): string {
  return at
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

/** A key such as `constructor` is no value of a file that does not write it. */
function own(values: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
