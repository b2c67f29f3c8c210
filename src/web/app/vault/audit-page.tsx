import { useCallback, useEffect, useState } from 'preact/hooks';
import { requireAnswer } from '../answers.js';
import { secrets } from '../clients.js';
import { ActionButton } from '../shell/action-button.js';
import { Loaded } from '../shell/loaded.js';
import { Select } from '../shell/select.js';
import { useResource } from '../shell/use-resource.js';
import { AuditTable } from './audit-table.js';
import type { AuditLogEntry } from './objects.js';
import { VaultFrame } from './vault-frame.js';

const PAGE = 50;

const loadOptions = async () => requireAnswer(await secrets.GET('/audit-log/filter-options'));

export function AuditPage() {
  const options = useResource(loadOptions);
  const [objectId, setObjectId] = useState('');
  const [actor, setActor] = useState('');
  const [caller, setCaller] = useState('');
  const names = (list: readonly string[]) => [['', 'All'], ...list.map((name) => [name, name] as const)] as const;
  return (
    <VaultFrame title="Audit log">
      <Verify />
      <Loaded from={options}>
        {({ object_ids, actors, callers }) => (
          <form
            role="search"
            aria-label="Filter the audit log"
            class="filters"
            onSubmit={(event) => event.preventDefault()}
          >
            <div class="selects">
              <Select label="Secret" value={objectId} options={names(object_ids)} onValue={setObjectId} />
              <Select
                label="By"
                value={actor}
                options={[['', 'All'], ...actors.map(({ value, label }) => [value, label] as const)]}
                onValue={setActor}
              />
              <Select label="Caller" value={caller} options={names(callers)} onValue={setCaller} />
            </div>
          </form>
        )}
      </Loaded>
      <Entries objectId={objectId} actor={actor} caller={caller} />
    </VaultFrame>
  );
}

interface EntriesProps {
  readonly objectId: string;
  readonly actor: string;
  readonly caller: string;
}

/** Newest first, more on request. */
function Entries({ objectId, actor, caller }: EntriesProps) {
  const [limit, setLimit] = useState(PAGE);
  useEffect(() => setLimit(PAGE), [objectId, actor, caller]);
  const load = useCallback(async () => {
    const query = {
      order: 'desc' as const,
      limit,
      ...(objectId !== '' && { object_id: objectId }),
      ...(actor !== '' && { actor }),
      ...(caller !== '' && { caller }),
    };
    const answer = await secrets.GET('/audit-log', { params: { query } });
    const entries: readonly AuditLogEntry[] = requireAnswer(answer);
    return { entries, count: Number(answer.response.headers.get('X-Total-Count')) };
  }, [limit, objectId, actor, caller]);
  const page = useResource(load);
  return (
    <Loaded from={page}>
      {({ entries, count }) => (
        <>
          <p class="quiet" role="status">
            {entries.length} of {count} shown
          </p>
          <AuditTable entries={entries} />
          {entries.length < count && entries.length < MOST && (
            <button type="button" onClick={() => setLimit(Math.min(limit + PAGE, MOST))}>
              Show more
            </button>
          )}
        </>
      )}
    </Loaded>
  );
}

/** As many as the service gives at once; older ones are found by filters. */
const MOST = 500;

/** What was last seen of the chain, kept in this browser, so that a log made anew is noticed. */
const KEPT_AS = 'trellis-audit-head';

function Verify() {
  const [said, setSaid] = useState('');
  const verify = async (): Promise<void> => {
    const query = readKept();
    const { intact, entries, head } = requireAnswer(await secrets.GET('/audit-log/verify', { params: { query } }));
    if (intact && head !== undefined) localStorage.setItem(KEPT_AS, JSON.stringify({ entries, head }));
    setSaid(intact ? `The chain of ${entries} entries is whole.` : 'The chain is broken: somebody altered the log.');
  };
  return (
    <p>
      <ActionButton onAct={verify}>Verify the chain</ActionButton> <span role="status">{said}</span>
    </p>
  );
}

function readKept(): { entries?: number; head?: string } {
  try {
    return JSON.parse(localStorage.getItem(KEPT_AS) ?? '{}') as { entries?: number; head?: string };
  } catch {
    return {};
  }
}
