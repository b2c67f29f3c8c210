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

interface RecordPage {
  readonly totalCount: number;
  readonly nodes: readonly (RecordReference & { readonly label: string })[];
}

/** The fields that serve as the label of a record, in order of preference. */
const LABEL_FIELDS = ['title', 'relativePath', 'path', 'name'];

/** Lists one page of the records of a type, in the order of their creation. Pages start at 1. */
export async function listRecords({ all, fields }: KindDescription, page: number, size: number): Promise<RecordPage> {
  const labelField = LABEL_FIELDS.find((name) => fields.some((field) => field.name === name));
  const label = labelField === undefined ? '' : `label: ${labelField}`;
  const node = `id ${label} internal { type description } parent { internal { description } }`;
  const query = `query list($skip: Int!, $limit: Int!) { ${all}(skip: $skip, limit: $limit) { totalCount nodes { ${node} } } }`;
  const result = await querySite<Readonly<Record<string, ListResult>>>(query, { skip: (page - 1) * size, limit: size });
  const { totalCount, nodes } = result[all] ?? { totalCount: 0, nodes: [] };
  return { totalCount, nodes: nodes.map((node) => ({ ...node, label: toLabel(node) })) };
}

interface ListResult {
  readonly totalCount: number;
  readonly nodes: readonly ListedRecord[];
}

interface ListedRecord extends RecordReference {
  readonly label?: string | null;
  readonly parent: Pick<RecordReference, 'internal'> | null;
}

const toLabel = ({ id, label, internal, parent }: ListedRecord): string =>
  [label, internal.description, parent?.internal.description].find((text) => text) ?? id;

export const isRecordReference = (value: unknown): value is RecordReference =>
  typeof value === 'object' && value !== null && 'id' in value && 'internal' in value;

export function linkToRecord({ id, internal: { type } }: RecordReference): string {
  return `/site/records?${new URLSearchParams({ kind: type, record: id }).toString()}`;
}
