import { useCallback } from 'preact/hooks';
import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Loaded } from '../shell/loaded.js';
import { toMoment } from '../shell/times.js';
import { say } from '../shell/toasts.js';
import { useResource } from '../shell/use-resource.js';
import { AuditTable } from './audit-table.js';
import { placeOf } from './objects.js';
import type { ObjectMetadata, ObjectVersion } from './objects.js';

interface ObjectHistoryProps {
  readonly object: ObjectMetadata;
  readonly onChange: () => Promise<void>;
}

/** The previous versions of a secret, and its latest audit log entries. */
export function ObjectHistory({ object, onChange }: ObjectHistoryProps) {
  const { slug, id, updated_at } = object;
  const load = useCallback(async () => {
    const params = { path: { slug }, query: { id } };
    const [versions, log] = await Promise.all([
      secrets.GET('/objects/{slug}/versions', { params }),
      secrets.GET('/audit-log', { params: { query: { object_id: slug, order: 'desc', limit: 20 } } }),
    ]);
    return { versions: requireAnswer(versions), log: requireAnswer(log) };
  }, [slug, id, updated_at]);
  const history = useResource(load);
  const restore = async ({ version }: ObjectVersion): Promise<void> => {
    const { path, query } = placeOf(object);
    const params = { path: { ...path, version }, query };
    requireAnswer(await secrets.POST('/objects/{slug}/versions/{version}/restore', { params }));
    await onChange();
    say(`Version ${version} of “${slug}” restored.`);
  };
  return (
    <Loaded from={history}>
      {({ versions, log }) => (
        <>
          <h2>Version history</h2>
          <ul class="things">
            {versions.length === 0 && <li>No earlier versions</li>}
            {versions.map((version) => (
              <li key={version.version}>
                <div>
                  Version {version.version}
                  <small>
                    {toMoment(version.created_at)} to {toMoment(version.replaced_at)}
                  </small>
                </div>
                <ConfirmButton
                  label={`Restore version ${version.version}`}
                  question="Restore this version"
                  onAct={() => restore(version)}
                >
                  Restore
                </ConfirmButton>
              </li>
            ))}
          </ul>
          <h2>Recent activity</h2>
          <AuditTable entries={log.filter(({ variant_id = id }) => variant_id === id)} />
        </>
      )}
    </Loaded>
  );
}
