import { useLayoutEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboard } from '../clients.js';
import { ActionButton } from '../shell/action-button.js';
import { Heading } from '../shell/heading.js';
import { boardFacts, takeFact } from './board-facts.js';
import { isPaused, lookAt, owner, problem } from './board-store.js';
import { refreshBoard } from './follow-board.js';

/** The users whose boards are shared with the signed-in user. */
const owners = signal<readonly components['schemas']['SharedUser'][]>(boardFacts?.sharedWithMe ?? []);

interface BoardHeadProps {
  readonly title: string;
  readonly includeDrafts: boolean;
}

/** The head of every board page: title, owner picker and refresh controls. */
export function BoardHead({ title, includeDrafts }: BoardHeadProps) {
  useLayoutEffect(() => void loadOwners(), []);
  return (
    <>
      <div class="head">
        <Heading>{title}</Heading>
        {owners.value.length > 0 && <OwnerPicker />}
        <label class="choice">
          <input
            type="checkbox"
            checked={isPaused.value}
            onChange={({ currentTarget }) => (isPaused.value = currentTarget.checked)}
          />
          Pause updates
        </label>
        <ActionButton onAct={() => refreshBoard(includeDrafts)}>Refresh</ActionButton>
      </div>
      {problem.value !== undefined && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
    </>
  );
}

/** Selects the board to show; shared boards are read-only. */
function OwnerPicker() {
  return (
    <label class="beside">
      Board of
      <select value={owner.value} onChange={({ currentTarget }) => lookAt(currentTarget.value)}>
        <option value="">me</option>
        {owners.value.map(({ username, displayName }) => (
          <option key={username} value={username}>
            {displayName}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Loads the shared boards. They rarely change, so once per page view is enough. */
async function loadOwners(): Promise<void> {
  const found =
    takeFact('sharedWithMe') ?? (await dashboard.GET('/api/sharing').catch(() => undefined))?.data?.sharedWithMe;
  owners.value = found ?? [];
  if (owner.value !== '' && !owners.value.some(({ username }) => username === owner.value)) lookAt('');
}
