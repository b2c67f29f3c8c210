import type { KindDescription } from '@trellis/core/record-types';
import { recordTypeDescriptions } from '../../../generated/site/record-types.js';
import { querySite, querySitePartially } from './query-site.js';

/** A reference to a record in a response. */
export interface RecordReference {
  readonly id: string;
  readonly internal: { readonly type: string; readonly description: string | null };
}

export type RecordData = Readonly<Record<string, unknown>>;

export const findRecordType = (name: string): KindDescription | undefined =>
  recordTypeDescriptions.find(({ kind }) => kind === name);

/** Reads all fields of a record; a field that failed is null. Returns `undefined` when there is no such record. */
export async function findRecord(
  { kind, single, fields }: KindDescription,
  id: string,
): Promise<RecordData | undefined> {
  const selection = fields.map((field) => field.selection).join(' ');
  const query = `query ${single}($id: String!) { ${single}(id: {eq: $id}) { ${selection} } }`;
  const result = await querySitePartially<Readonly<Record<string, RecordData | null>>>(query, { id });
  if (!(single in result)) throw new Error(`The response contains no result for ${kind}.`);
  return result[single] ?? undefined;
}

/** Counts the records of each record type. */
export async function countRecordTypes(): Promise<ReadonlyMap<string, number>> {
  const query = `{ ${recordTypeDescriptions.map(({ all }) => `${all} { totalCount }`).join(' ')} }`;
  const result = await querySite<Readonly<Record<string, { readonly totalCount: number }>>>(query);
  return new Map(recordTypeDescriptions.map(({ kind, all }) => [kind, result[all]?.totalCount ?? 0]));
}

export const isRecordReference = (value: unknown): value is RecordReference =>
  typeof value === 'object' && value !== null && 'id' in value && 'internal' in value;

export function linkToRecord({ id, internal: { type } }: RecordReference): string {
  return `/site/records?${new URLSearchParams({ kind: type, record: id }).toString()}`;
}
