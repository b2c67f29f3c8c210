import { useLayoutEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient } from '../clients.js';
import { ActionButton } from '../ui/action-button.js';
import { Heading } from '../ui/heading.js';
import { preloadedBoard, consumePreloaded } from './preloaded-board.js';
import { isPaused, selectBoard, boardOwner, boardError } from './board-store.js';
import { refreshBoard } from './follow-board.js';

/** The users whose boards are shared with the signed-in user. */
const owners = signal<readonly components['schemas']['SharedUser'][]>(preloadedBoard?.sharedWithMe ?? []);

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
      {boardError.value !== undefined && (
        <p class="problem" role="alert">
          {boardError.value}
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
      <select value={boardOwner.value} onChange={({ currentTarget }) => selectBoard(currentTarget.value)}>
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
    consumePreloaded('sharedWithMe') ??
    (await dashboardClient.GET('/api/sharing').catch(() => undefined))?.data?.sharedWithMe;
  owners.value = found ?? [];
  if (boardOwner.value !== '' && !owners.value.some(({ username }) => username === boardOwner.value)) selectBoard('');
}
