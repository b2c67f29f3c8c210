import type { ComputedField, RecordField } from '@trellis/core/record-types';
import type { RecordTables } from '@trellis/site/records/record-schema';
import type { Plain } from '../../../packages/site/tests/query/evaluator.js';
import { VALUES } from '../../../packages/site/tests/query/world.js';

/** Returns a value for a computed field that is always the same for the same record. */
export function computeAny(tables: RecordTables, kind: string, path: string, { id }: Plain): unknown {
  const field = tables[kind]?.fields.find((one): one is ComputedField => one.kind === 'computed' && one.path === path);
  if (!field) throw new Error(`${kind} has no computed field ${path}.`);
  return valueOf(field, `${String(id)} ${path}`);
}

function valueOf(field: RecordField, seed: string): unknown {
  const number = hash(seed);
  if (field.nullable && number % 4 === 0) return null;
  if (field.kind === 'object' || (field.kind === 'computed' && field.fields.length > 0))
    return Object.fromEntries(field.fields.map((inner) => [inner.name, valueOf(inner, `${seed} ${inner.name}`)]));
  const pool = ('values' in field ? field.values : undefined) ?? VALUES[field.type] ?? [];
  const value = pool[number % pool.length];
  return field.list ? [value, null] : value;
}

/** Maps texts to well-distributed whole numbers. */
const hash = (text: string): number => Buffer.from(text).reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 7);
