import { useState } from 'preact/hooks';
import { toUserMessage } from '../api-errors.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Menu } from '../ui/menu.js';
import { showToast } from '../ui/toasts.js';
import { ACTIONS, performAction, isRetryable } from './actions.js';
import { rateLimitedUntil, rateLimitNoticeId } from './forge-rate-limits.js';
import { RowError } from './row-error.js';
import type { ActionFailure } from './row-error.js';
import { SnoozeMenu } from './snooze-menu.js';
import type { PullRequest } from './rows.js';

type Offered = PullRequest['allowedActions'][number];

/** The buttons of a row: the first action, and the "More" menu with the others. */
export function RowActions({ row }: { readonly row: PullRequest }) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<ActionFailure>();
  const offered = row.allowedActions.filter(({ action }) => ACTIONS[action] !== undefined);
  const [first, ...others] = offered;
  const run = async ({ action }: Offered, close?: () => void): Promise<void> => {
    const known = ACTIONS[action];
    if (known === undefined) return;
    setBusy(true);
    setOutcome(undefined);
    try {
      showToast(await performAction(row, known));
      close?.();
    } catch (error) {
      close?.();
      showToast(`${row.repo} #${row.number}: ${toUserMessage(error)}`, 'failed');
      setOutcome({ action, text: toUserMessage(error), canRetry: isRetryable(error) });
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
        <RowError
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
  const isLocked = blocked === undefined && rateLimitedUntil[row.forge].value !== undefined;
  return (
    <span class="action">
      <ConfirmButton
        label={`${name} #${row.number}`}
        question={`${verb} #${row.number}?`}
        disabled={blocked !== undefined || isBusy || isLocked}
        {...(isLocked ? { reason: rateLimitNoticeId(row.forge), onRefuse: onLocked } : {})}
        onAct={onAct}
      >
        {name}
      </ConfirmButton>
      {blocked && <small class="quiet">{blocked.message}</small>}
    </span>
  );
}
