import { useState } from 'preact/hooks';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Menu } from '../shell/menu.js';
import { say } from '../shell/toasts.js';
import { ACTIONS, act } from './actions.js';
import { SnoozeMenu } from './snooze-menu.js';
import type { PullRequest } from './rows.js';

type Offered = PullRequest['allowedActions'][number];

/** The one that is wanted most stands alone; the others are behind "More". */
export function RowActions({ row }: { readonly row: PullRequest }) {
  const [isBusy, setBusy] = useState(false);
  const offered = row.allowedActions.filter(({ action }) => ACTIONS[action] !== undefined);
  const [first, ...others] = offered;
  const run = async ({ action }: Offered, close?: () => void): Promise<void> => {
    const known = ACTIONS[action];
    if (known === undefined) return;
    setBusy(true);
    try {
      say(await act(row, known));
      close?.();
    } finally {
      setBusy(false);
    }
  };
  const button = (action: Offered, close?: () => void) => (
    <ActionOf key={action.action} row={row} offered={action} isBusy={isBusy} onAct={() => run(action, close)} />
  );
  return (
    <div class="actions">
      {first && button(first)}
      <Menu name="More" label={`More for #${row.number}`}>
        {(close) => (
          <>
            {others.map((action) => button(action, close))}
            <SnoozeMenu row={row} onDone={close} />
          </>
        )}
      </Menu>
    </div>
  );
}

interface ActionOfProps {
  readonly row: PullRequest;
  readonly offered: Offered;
  readonly isBusy: boolean;
  readonly onAct: () => Promise<void>;
}

function ActionOf({ row, offered: { action, blocked }, isBusy, onAct }: ActionOfProps) {
  const { name = '', question = '' } = ACTIONS[action] ?? {};
  return (
    <span class="action">
      <ConfirmButton
        label={`${name} #${row.number}`}
        question={question}
        disabled={blocked !== undefined || isBusy}
        onAct={onAct}
      >
        {name}
      </ConfirmButton>
      {blocked && <small class="quiet">{blocked.message}</small>}
    </span>
  );
}
