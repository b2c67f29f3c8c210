import { ConfirmButton } from '../ui/confirm-button.js';
import { Countdown } from '../ui/countdown.js';
import { ACTIONS } from './actions.js';
import { describeRateLimit, rateLimitedUntil } from './forge-rate-limits.js';
import type { PullRequest } from './rows.js';

export interface ActionFailure {
  readonly action: keyof typeof ACTIONS;
  /** The error message; empty if no request was sent because the forge is locked. */
  readonly text: string;
  readonly canRetry: boolean;
}

interface RowOutcomeProps {
  readonly row: PullRequest;
  readonly outcome: ActionFailure;
  readonly isBusy: boolean;
  /** Undefined if a retry would not help. */
  readonly onAgain: (() => Promise<void>) | undefined;
  readonly onDismiss: () => void;
}

/** Why the last action of a row failed, shown in the row until it is dismissed or another action succeeds. */
export function RowError({ row, outcome: { action, text }, isBusy, onAgain, onDismiss }: RowOutcomeProps) {
  const until = rateLimitedUntil[row.forge].value;
  return (
    <div class="outcome">
      <p class="bad">
        {until === undefined ? (
          text || 'You can try again now.'
        ) : (
          <>
            {describeRateLimit(row.forge, until)} <Countdown until={until} />
          </>
        )}
      </p>
      {until === undefined && onAgain && (
        <ConfirmButton
          label={`Try again #${row.number}`}
          question={`${ACTIONS[action]?.verb ?? ''} #${row.number}?`}
          disabled={isBusy}
          onAct={onAgain}
        >
          Try again
        </ConfirmButton>
      )}
      <button type="button" class="plain" aria-label={`Dismiss the message about #${row.number}`} onClick={onDismiss}>
        <span aria-hidden="true">×</span>
      </button>
    </div>
  );
}
