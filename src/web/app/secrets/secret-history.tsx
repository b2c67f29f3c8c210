import { useCallback, useRef } from 'preact/hooks';
import { requireData } from '../api.js';
import { ConfirmButton } from '../ui/buttons.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { AuditTable } from './audit/audit-table.js';
import type { ObjectMetadata, ObjectVersion } from './metadata.js';
import { locateSecret, secretsClient } from './secrets.js';
import { SignedBy } from './signatures/signed-by.js';

interface ObjectHistoryProps {
  readonly object: ObjectMetadata;
  readonly onChange: () => Promise<void>;
}

/** The previous versions of a secret, and its latest audit log entries. */
export function SecretHistory({ object, onChange }: ObjectHistoryProps) {
  const { slug, id, updated_at } = object;
  const load = useCallback(async () => {
    const params = { path: { slug }, query: { id } };
    const [versions, log] = await Promise.all([
      secretsClient.GET('/objects/{slug}/versions', { params }),
      secretsClient.GET('/audit-log', { params: { query: { object_id: slug, order: 'desc', limit: 20 } } }),
    ]);
    return { versions: requireData(versions), log: requireData(log) };
  }, [slug, id, updated_at]);
  const history = useResource(load);
  const restore = async (previous: ObjectVersion): Promise<void> => {
    const { restoreValue } = await import('./signatures/stored-values.js');
    await restoreValue(object, previous);
    await onChange();
    showToast(`Version ${previous.version} of “${slug}” restored.`);
  };
  const heading = useRef<HTMLHeadingElement>(null);
  const destroy = async (): Promise<void> => {
    requireData(await secretsClient.DELETE('/objects/{slug}/versions', { params: locateSecret(object) }));
    await history.reload();
    // The pressed button has disappeared.
    heading.current?.focus();
    showToast(`Previous values of “${slug}” destroyed.`);
  };
  return (
    <AsyncContent from={history}>
      {({ versions, log }) => (
        <>
          <h2 ref={heading} tabIndex={-1}>
            Version history
          </h2>
          <ul class="things">
            {versions.length === 0 && <li>No earlier versions</li>}
            {versions.map((version) => (
              <li key={version.version}>
                <div>
                  Version {version.version}
                  <small>
                    {formatDateTime(version.created_at)} to {formatDateTime(version.replaced_at)}
                  </small>
                  <SignedBy object={object} previous={version} onChange={onChange} />
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
          {versions.length > 0 && <DestroyVersions object={object} count={versions.length} onAct={destroy} />}
          <h2>Recent activity</h2>
          <AuditTable entries={log.filter(({ variant_id = id }) => variant_id === id)} />
        </>
      )}
    </AsyncContent>
  );
}

interface DestroyVersionsProps {
  readonly object: ObjectMetadata;
  readonly count: number;
  readonly onAct: () => Promise<void>;
}

function DestroyVersions({ object: { slug, id }, count, onAct }: DestroyVersionsProps) {
  const hint = `destroy-${id}`;
  return (
    <div class="destroy">
      <p class="quiet" id={hint}>
        After a leak, destroy the previous values at once. The current value stays, and so do copies in backups.
      </p>
      <ConfirmButton
        class="danger"
        label={`Destroy previous values of ${slug}`}
        question={`Destroy ${count === 1 ? 'one value' : `${count} values`} permanently`}
        reason={hint}
        onAct={onAct}
      >
        Destroy previous values
      </ConfirmButton>
    </div>
  );
}
