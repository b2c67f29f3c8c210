import { useCallback } from 'preact/hooks';
import type { KindDescription } from '../../../core/record-types.js';
import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { findRecord } from './record.js';
import { RecordFields } from './record-fields.js';

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
