import { useState } from 'preact/hooks';
import { explain } from '../answers.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Menu } from '../shell/menu.js';
import { say } from '../shell/toasts.js';
import { ACTIONS, act, canRetry } from './actions.js';
import { LOCKS, lockId } from './forge-locks.js';
import { RowOutcome } from './row-outcome.js';
import type { Outcome } from './row-outcome.js';
import { SnoozeMenu } from './snooze-menu.js';
import type { PullRequest } from './rows.js';

type Offered = PullRequest['allowedActions'][number];

/** The buttons of a row: the first action, and the "More" menu with the others. */
export function RowActions({ row }: { readonly row: PullRequest }) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const offered = row.allowedActions.filter(({ action }) => ACTIONS[action] !== undefined);
  const [first, ...others] = offered;
  const run = async ({ action }: Offered, close?: () => void): Promise<void> => {
    const known = ACTIONS[action];
    if (known === undefined) return;
    setBusy(true);
    setOutcome(undefined);
    try {
      say(await act(row, known));
      close?.();
    } catch (error) {
      close?.();
      say(`${row.repo} #${row.number}: ${explain(error)}`, 'failed');
      setOutcome({ action, text: explain(error), canRetry: canRetry(error) });
    } finally {
      setBusy(false);
    }
  };
  const button = (action: Offered, close?: () => void) => (
    <ActionOf
      key={action.action}
      {...{ row, isBusy }}
      offered={action}
      onAct={() => run(action, close)}
      onLocked={() => {
        close?.();
        setOutcome({ action: action.action, text: '', canRetry: false });
      }}
    />
  );
  const again = offered.find(({ action, blocked }) => action === outcome?.action && blocked === undefined);
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
      {outcome && (
        <RowOutcome
          {...{ row, outcome, isBusy }}
          onAgain={again && outcome.canRetry ? () => run(again) : undefined}
          onDismiss={() => setOutcome(undefined)}
        />
      )}
    </div>
  );
}

interface ActionOfProps {
  readonly row: PullRequest;
  readonly offered: Offered;
  readonly isBusy: boolean;
  readonly onAct: () => Promise<void>;
  /** Called for a press while the forge's rate limit is exceeded. */
  readonly onLocked: () => void;
}

function ActionOf({ row, offered: { action, blocked }, isBusy, onAct, onLocked }: ActionOfProps) {
  const { name = '', verb = '' } = ACTIONS[action] ?? {};
  const isLocked = blocked === undefined && LOCKS[row.forge].value !== undefined;
  return (
    <span class="action">
      <ConfirmButton
        label={`${name} #${row.number}`}
        question={`${verb} #${row.number}?`}
        disabled={blocked !== undefined || isBusy || isLocked}
        {...(isLocked ? { reason: lockId(row.forge), onRefuse: onLocked } : {})}
        onAct={onAct}
      >
        {name}
      </ConfirmButton>
      {blocked && <small class="quiet">{blocked.message}</small>}
    </span>
  );
}
