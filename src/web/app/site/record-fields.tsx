import type { KindDescription } from '@trellis/core/record-types';
import type { ComponentChildren } from 'preact';
import { useCallback } from 'preact/hooks';
import { AsyncContent, useResource } from '../ui/resource.js';
import { findRecord, isRecordReference, linkToRecord, type RecordData } from './record.js';
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
