import { ConfirmButton } from '../shell/confirm-button.js';
import { say } from '../shell/toasts.js';
import { ACTIONS, act } from './actions.js';
import { SnoozeMenu } from './snooze-menu.js';
import type { PullRequest } from './rows.js';

interface RowActionsProps {
  readonly row: PullRequest;
  readonly isBusy: boolean;
  readonly onBusy: (isBusy: boolean) => void;
}

/** The one that is wanted most stands alone; the others are behind "More". */
export function RowActions({ row, isBusy, onBusy }: RowActionsProps) {
  const offered = row.allowedActions.filter(({ action }) => ACTIONS[action] !== undefined);
  const [first, ...others] = offered;
  const run = async (action: (typeof offered)[number]): Promise<void> => {
    const known = ACTIONS[action.action];
    if (known === undefined) return;
    onBusy(true);
    try {
      say(await act(row, known));
    } finally {
      onBusy(false);
    }
  };
  const button = (action: (typeof offered)[number]) => {
    const { name = '', question = '' } = ACTIONS[action.action] ?? {};
    return (
      <span key={action.action} class="action">
        <ConfirmButton
          label={`${name} #${row.number}`}
          question={question}
          disabled={action.blocked !== undefined || isBusy}
          onAct={() => run(action)}
        >
          {name}
        </ConfirmButton>
        {action.blocked && <small class="quiet">{action.blocked.message}</small>}
      </span>
    );
  };
  return (
    <div class="actions">
      {first && button(first)}
      <details class="more">
        <summary aria-label={`More for #${row.number}`}>More</summary>
        <div class="menu">
          {others.map(button)}
          <SnoozeMenu row={row} />
        </div>
      </details>
    </div>
  );
}
