import { ConfirmButton } from '../shell/confirm-button.js';
import { Countdown } from '../shell/countdown.js';
import { ACTIONS } from './actions.js';
import { describeLock, LOCKS } from './forge-locks.js';
import type { PullRequest } from './rows.js';

export interface Outcome {
  readonly action: keyof typeof ACTIONS;
  /** Empty when nothing was sent, as the forge is locked. */
  readonly text: string;
  readonly canRetry: boolean;
}

interface RowOutcomeProps {
  readonly row: PullRequest;
  readonly outcome: Outcome;
  readonly isBusy: boolean;
  /** Undefined where it would change nothing. */
  readonly onAgain: (() => Promise<void>) | undefined;
  readonly onDismiss: () => void;
}

/** Why the last press of a row did nothing, there where it was pressed, until it is dismissed or something else is done. */
export function RowOutcome({ row, outcome: { action, text }, isBusy, onAgain, onDismiss }: RowOutcomeProps) {
  const until = LOCKS[row.forge].value;
  return (
    <div class="outcome">
      <p class="bad">
        {until === undefined ? (
          text || 'It can be done again.'
        ) : (
          <>
            {describeLock(row.forge, until)} <Countdown until={until} />
          </>
        )}
      </p>
      {until === undefined && onAgain && (
        <ConfirmButton
          label={`Try again #${row.number}`}
          question={ACTIONS[action]?.question ?? ''}
          disabled={isBusy}
          onAct={onAgain}
        >
          Try again
        </ConfirmButton>
      )}
      <button type="button" class="plain" aria-label={`Dismiss the message of #${row.number}`} onClick={onDismiss}>
        <span aria-hidden="true">×</span>
      </button>
    </div>
  );
}
