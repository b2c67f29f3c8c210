import { recordTypeDescriptions } from '../../../generated/site/record-types.js';
import type { KindDescription } from '../../../site/kind-descriptions.js';
import { ask, askInPart } from './ask.js';

/** What an answer names another record by. */
export interface RecordName {
  readonly id: string;
  readonly internal: { readonly type: string; readonly description: string | null };
}

export type SiteRecord = Readonly<Record<string, unknown>>;

export const findKind = (name: string): KindDescription | undefined =>
  recordTypeDescriptions.find(({ kind }) => kind === name);

/** Everything that the schema knows of a record; `undefined` when it is gone. A field that can't be answered is null. */
export async function findRecord(
  { kind, single, fields }: KindDescription,
  id: string,
): Promise<SiteRecord | undefined> {
  const selection = fields.map((field) => field.selection).join(' ');
  const query = `query ${single}($id: String!) { ${single}(id: {eq: $id}) { ${selection} } }`;
  const answer = await askInPart<Readonly<Record<string, SiteRecord | null>>>(query, { id });
  if (!(single in answer)) throw new Error(`The server did not answer about ${kind}.`);
  return answer[single] ?? undefined;
}

/** How many records there are of each kind. */
export async function countKinds(): Promise<ReadonlyMap<string, number>> {
  const query = `{ ${recordTypeDescriptions.map(({ all }) => `${all} { totalCount }`).join(' ')} }`;
  const answer = await ask<Readonly<Record<string, { readonly totalCount: number }>>>(query);
  return new Map(recordTypeDescriptions.map(({ kind, all }) => [kind, answer[all]?.totalCount ?? 0]));
}

export interface RecordPage {
  readonly totalCount: number;
  readonly nodes: readonly (RecordName & { readonly label: string })[];
}

/** Fields that a person would know a record by, the best first. */
const TELLING = ['title', 'relativePath', 'path', 'name'];

/** One page of the records of a kind, counted from 1, in the order of their creation. */
export async function listRecords({ all, fields }: KindDescription, page: number, size: number): Promise<RecordPage> {
  const telling = TELLING.find((name) => fields.some((field) => field.name === name));
  const label = telling === undefined ? '' : `label: ${telling}`;
  const node = `id ${label} internal { type description } parent { internal { description } }`;
  const query = `query list($skip: Int!, $limit: Int!) { ${all}(skip: $skip, limit: $limit) { totalCount nodes { ${node} } } }`;
  const answer = await ask<Readonly<Record<string, ListAnswer>>>(query, { skip: (page - 1) * size, limit: size });
  const { totalCount, nodes } = answer[all] ?? { totalCount: 0, nodes: [] };
  return { totalCount, nodes: nodes.map((node) => ({ ...node, label: toLabel(node) })) };
}

interface ListAnswer {
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
