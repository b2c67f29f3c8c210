import { recordTypeDescriptions } from '../../../generated/site/record-types.js';
import type { KindDescription } from '../../../site/kind-descriptions.js';
import { ask, askInPart } from './ask.js';

/** A reference to a record in a response. */
export interface RecordName {
  readonly id: string;
  readonly internal: { readonly type: string; readonly description: string | null };
}

export type SiteRecord = Readonly<Record<string, unknown>>;

export const findKind = (name: string): KindDescription | undefined =>
  recordTypeDescriptions.find(({ kind }) => kind === name);

/** Reads all fields of a record; a field that failed is null. Returns `undefined` when there is no such record. */
export async function findRecord(
  { kind, single, fields }: KindDescription,
  id: string,
): Promise<SiteRecord | undefined> {
  const selection = fields.map((field) => field.selection).join(' ');
  const query = `query ${single}($id: String!) { ${single}(id: {eq: $id}) { ${selection} } }`;
  const result = await askInPart<Readonly<Record<string, SiteRecord | null>>>(query, { id });
  if (!(single in result)) throw new Error(`The response contains no result for ${kind}.`);
  return result[single] ?? undefined;
}

/** Counts the records of each record type. */
export async function countKinds(): Promise<ReadonlyMap<string, number>> {
  const query = `{ ${recordTypeDescriptions.map(({ all }) => `${all} { totalCount }`).join(' ')} }`;
  const result = await ask<Readonly<Record<string, { readonly totalCount: number }>>>(query);
  return new Map(recordTypeDescriptions.map(({ kind, all }) => [kind, result[all]?.totalCount ?? 0]));
}

export interface RecordPage {
  readonly totalCount: number;
  readonly nodes: readonly (RecordName & { readonly label: string })[];
}

/** The fields that serve as the label of a record, in order of preference. */
const LABEL_FIELDS = ['title', 'relativePath', 'path', 'name'];

/** Lists one page of the records of a type, in the order of their creation. Pages start at 1. */
export async function listRecords({ all, fields }: KindDescription, page: number, size: number): Promise<RecordPage> {
  const labelField = LABEL_FIELDS.find((name) => fields.some((field) => field.name === name));
  const label = labelField === undefined ? '' : `label: ${labelField}`;
  const node = `id ${label} internal { type description } parent { internal { description } }`;
  const query = `query list($skip: Int!, $limit: Int!) { ${all}(skip: $skip, limit: $limit) { totalCount nodes { ${node} } } }`;
  const result = await ask<Readonly<Record<string, ListResult>>>(query, { skip: (page - 1) * size, limit: size });
  const { totalCount, nodes } = result[all] ?? { totalCount: 0, nodes: [] };
  return { totalCount, nodes: nodes.map((node) => ({ ...node, label: toLabel(node) })) };
}

interface ListResult {
  readonly totalCount: number;
  readonly nodes: readonly ListedRecord[];
}

interface ListedRecord extends RecordName {
  readonly label?: string | null;
  readonly parent: Pick<RecordName, 'internal'> | null;
}

const toLabel = ({ id, label, internal, parent }: ListedRecord): string =>
  [label, internal.description, parent?.internal.description].find((text) => text) ?? id;

export const isRecordName = (value: unknown): value is RecordName =>
  typeof value === 'object' && value !== null && 'id' in value && 'internal' in value;

export function linkToRecord({ id, internal: { type } }: RecordName): string {
  return `/explore/records?${new URLSearchParams({ kind: type, record: id }).toString()}`;
}
