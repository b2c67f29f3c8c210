import type { KindDescription } from '@trellis/core/record-types';
import type { ComponentChildren } from 'preact';
import { useCallback } from 'preact/hooks';
import { AsyncContent, useResource } from '../ui/resource.js';
import { querySite, querySitePartially, type RecordReference } from './query-site.js';
import { SchemaText } from './site-layout.js';

/** The fields of one record of any record type. */
export function RecordDetails({ kind, id }: { readonly kind: KindDescription; readonly id: string }) {
  const load = useCallback(async () => (await findRecord(kind, id)) ?? null, [kind, id]);
  const record = useResource(load);
  return (
    <AsyncContent from={record}>
      {(value) =>
        value === null ? <p role="status">This record was deleted.</p> : <RecordFields kind={kind} record={value} />
      }
    </AsyncContent>
  );
}

interface RecordFieldsProps {
  readonly kind: KindDescription;
  readonly record: RecordData;
}

/** All fields of a record with their values and schema descriptions, in the order of the schema. */
export function RecordFields({ kind, record }: RecordFieldsProps) {
  return (
    <dl class="fields">
      {kind.fields.map(({ name, description }) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <Value value={record[name]} />
            <small class="quiet">
              <SchemaText text={description} />
            </small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Any value of a response. References to other records are links. */
function Value({ value }: { readonly value: unknown }): ComponentChildren {
  if (value === null || value === undefined || value === '') return <NoValue value={value} />;
  if (Array.isArray(value)) return <List values={value as readonly unknown[]} />;
  if (isRecordReference(value)) {
    return <a href={linkToRecord(value)}>{value.internal.description ?? `${value.internal.type} ${value.id}`}</a>;
  }
  if (typeof value !== 'object') return typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <dl class="inner">
      {Object.entries(value as RecordData).map(([name, inner]) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <Value value={inner} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const NoValue = ({ value }: { readonly value: unknown }) => (
  <span class="quiet">{value === '' ? 'empty' : 'no value'}</span>
);

function List({ values }: { readonly values: readonly unknown[] }) {
  if (values.length === 0) return <span class="quiet">none</span>;
  return (
    <ul>
      {values.map((value, index) => (
        <li key={index}>
          <Value value={value} />
        </li>
      ))}
    </ul>
  );
}

export type RecordData = Readonly<Record<string, unknown>>;

export const findRecordType = (types: readonly KindDescription[], name: string): KindDescription | undefined =>
  types.find(({ kind }) => kind === name);

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
export async function countRecordTypes(types: readonly KindDescription[]): Promise<ReadonlyMap<string, number>> {
  const query = `{ ${types.map(({ all }) => `${all} { totalCount }`).join(' ')} }`;
  const result = await querySite<Readonly<Record<string, { readonly totalCount: number }>>>(query);
  return new Map(types.map(({ kind, all }) => [kind, result[all]?.totalCount ?? 0]));
}

export const isRecordReference = (value: unknown): value is RecordReference =>
  typeof value === 'object' && value !== null && 'id' in value && 'internal' in value;

function linkToRecord({ id, internal: { type } }: RecordReference): string {
  return `/site/records?${new URLSearchParams({ kind: type, record: id }).toString()}`;
}
