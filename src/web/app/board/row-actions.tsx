import { useState } from 'preact/hooks';
import { dashboardClient, type Problem, requireData, toProblem } from '../api.js';
import { ActionButton, ConfirmButton, useAction } from '../ui/buttons.js';
import { ProblemText } from '../ui/form.js';
import { Icon } from '../ui/icon.js';
import { Menu } from '../ui/menu.js';
import { Countdown } from '../ui/time-elements.js';
import { dayFromNow, formatDay, toMoment } from '../ui/times.js';
import { showError, showUndoToast } from '../ui/toasts.js';
import { type Action, ACTIONS, listMergeMethods, performAction, showOutcome } from './actions.js';
import { changeRow } from './data/board-store.js';
import { describeRateLimit, findRateLimitLock, rateLimitNoticeId } from './data/forge-rate-limits.js';
import { type PullRequest, toTarget } from './data/rows.js';

type Offered = PullRequest['allowedActions'][number];
type ActionName = Offered['action'];

/** The buttons of a row: its next step, and the "More" menu with all other actions. */
export function RowActions({ row }: { readonly row: PullRequest }) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<ActionFailure>();
  const offered = row.allowedActions.filter(({ action }) => ACTIONS[action] !== undefined);
  const isReview = row.section === 'needs_your_review';
  const main = isReview ? undefined : findNextStep(row, offered);
  const others = offered.filter((one) => one !== main);
  const run = async (action: ActionName, known: Action | undefined, close?: () => void): Promise<void> => {
    if (known === undefined) return;
    setBusy(true);
    setOutcome(undefined);
    try {
      showOutcome([row], known, await performAction(row, known));
      close?.();
    } catch (error) {
      close?.();
      showError(error, `${row.repo} #${row.number}`);
      setOutcome({ action, problem: toProblem(error) });
    } finally {
      setBusy(false);
    }
  };
  const button = (action: Offered, close?: () => void) => (
    <ActionOf
      key={action.action}
      {...{ row, isBusy }}
      offered={action}
      onAct={() => run(action.action, ACTIONS[action.action], close)}
      onLocked={() => {
        close?.();
        setOutcome({ action: action.action });
      }}
    />
  );
  const again = offered.find(({ action, blocked }) => action === outcome?.action && blocked === undefined);
  return (
    <div class="actions">
      {isReview && <ReviewLink row={row} />}
      {main && button(main)}
      <Menu name={more} label={`More for #${row.number}`}>
        {(close) => (
          <>
            {others.map((action) => button(action, close))}
            {listMergeMethods(row).map((method) => (
              <ConfirmButton
                key={method.name}
                label={`${method.name} #${row.number}`}
                question={`${method.verb} #${row.number}?`}
                disabled={isBusy || findRateLimitLock(row) !== undefined}
                onAct={() => run('merge', method, close)}
              >
                {method.name}
              </ConfirmButton>
            ))}
            <SnoozeMenu row={row} onDone={close} />
          </>
        )}
      </Menu>
      {outcome && (
        <RowError
          {...{ row, outcome, isBusy }}
          onAgain={again && outcome.problem?.canRetry ? () => run(again.action, ACTIONS[again.action]) : undefined}
          onDismiss={() => setOutcome(undefined)}
        />
      )}
    </div>
  );
}

const more = (
  <>
    <Icon name="dots" />
    <span class="word">More</span>
  </>
);

/**
 * Returns the first action that is possible; failed checks are rerun first. Blocked actions are in the menu, with their
 * reasons, beside those that undo something.
 */
function findNextStep({ ci }: PullRequest, offered: readonly Offered[]): Offered | undefined {
  const possible = offered.filter(({ action, blocked }) => !UNDOING.has(action) && blocked === undefined);
  const rerun = ci === 'failure' ? possible.find(({ action }) => action === 'rerun_checks') : undefined;
  return rerun ?? possible[0];
}

const UNDOING: ReadonlySet<string> = new Set(['cancel_auto_merge', 'close', 'dequeue']);

/** The path of a pull request's diff, below its URL. */
const DIFF_PATHS = { github: '/files', forgejo: '/files', gitlab: '/diffs' } as const;

const ReviewLink = ({ row: { forge, url, number } }: { readonly row: PullRequest }) => (
  <a
    class="button review"
    href={url + DIFF_PATHS[forge]}
    target="_blank"
    rel="noreferrer"
    aria-label={`Review #${number}`}
  >
    Review
  </a>
);

interface ActionOfProps {
  readonly row: PullRequest;
  readonly offered: Offered;
  readonly isBusy: boolean;
  readonly onAct: () => Promise<void>;
  /** Called for a press while the rate limit of the credential is exceeded. */
  readonly onLocked: () => void;
}

function ActionOf({ row, offered: { action, blocked }, isBusy, onAct, onLocked }: ActionOfProps) {
  const { name = '', verb = '', undo } = ACTIONS[action] ?? {};
  const isLocked = blocked === undefined && findRateLimitLock(row) !== undefined;
  return (
    <span class="action">
      <ConfirmButton
        label={`${name} #${row.number}`}
        question={undo === undefined ? `${verb} #${row.number}?` : undefined}
        disabled={blocked !== undefined || isBusy || isLocked}
        {...(isLocked ? { reason: rateLimitNoticeId(row), onRefuse: onLocked } : {})}
        onAct={onAct}
      >
        {name}
      </ConfirmButton>
      {blocked && <small class="quiet">{blocked.message}</small>}
    </span>
  );
}

interface ActionFailure {
  readonly action: keyof typeof ACTIONS;
  /** Undefined if no request was sent because of the rate limit. */
  readonly problem?: Problem;
}

interface RowOutcomeProps {
  readonly row: PullRequest;
  readonly outcome: ActionFailure;
  readonly isBusy: boolean;
  /** Undefined if a retry would not help. */
  readonly onAgain: (() => Promise<void>) | undefined;
  readonly onDismiss: () => void;
}

const RATE_LIMIT_ENDED: Problem = { message: 'You can try again now.' };

/** Why the last action of a row failed, shown in the row until it is dismissed or another action succeeds. */
function RowError({ row, outcome, isBusy, onAgain, onDismiss }: RowOutcomeProps) {
  const { action, problem = RATE_LIMIT_ENDED } = outcome;
  const lock = findRateLimitLock(row);
  return (
    <div class="outcome">
      <p class="bad">
        {lock === undefined ? (
          <ProblemText problem={problem} />
        ) : (
          <>
            {describeRateLimit(lock)} <Countdown until={lock.until} />
          </>
        )}
      </p>
      {lock === undefined && onAgain && (
        <ConfirmButton
          label={`Try again #${row.number}`}
          question={ACTIONS[action]?.undo === undefined ? `${ACTIONS[action]?.verb ?? ''} #${row.number}?` : undefined}
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

/** Saves and shows the snooze of a row; `undefined` ends it. */
async function saveSnooze(row: PullRequest, snoozed: PullRequest['snooze']): Promise<void> {
  const target = toTarget(row);
  requireData(
    snoozed === undefined
      ? await dashboardClient.POST('/api/pull-requests/unsnooze', { params: {}, body: target })
      : await dashboardClient.POST('/api/pull-requests/snooze', { params: {}, body: { ...target, ...snoozed } }),
  );
  changeRow(row, (one) => {
    const next: Omit<PullRequest, 'snooze'> & { snooze?: PullRequest['snooze'] } = { ...one };
    delete next.snooze;
    return snoozed === undefined ? next : { ...next, snooze: snoozed };
  });
}

/** Menu entries that snooze or unsnooze a row, which can be undone. */
function SnoozeMenu({ row, onDone }: { readonly row: PullRequest; readonly onDone: () => void }) {
  const change = async (snoozed: PullRequest['snooze'], message: string): Promise<void> => {
    await saveSnooze(row, snoozed);
    const about = `${row.repo} #${row.number} is`;
    const undone = row.snooze === undefined ? 'no longer snoozed' : 'snoozed again';
    showUndoToast(`${about} ${message}.`, `${about} ${undone}.`, async () => saveSnooze(row, row.snooze));
    onDone();
  };
  const unsnooze = async (): Promise<void> => change(undefined, 'no longer snoozed');
  const snooze = async ({ name, body }: SnoozeOption): Promise<void> => change(body(), `snoozed ${name}`);
  if (row.snooze) return <ActionButton onAct={unsnooze}>Unsnooze</ActionButton>;
  return (
    <>
      {OPTIONS.map((option) => (
        <ActionButton key={option.name} onAct={() => snooze(option)}>
          Snooze {option.name}
        </ActionButton>
      ))}
      <UntilDay onDay={(day) => snooze(untilDay(day))} />
    </>
  );
}

interface SnoozeOption {
  readonly name: string;
  readonly body: () => { until?: string; untilChange: boolean };
}

/** Snoozes end at 7:00 in the time zone of the user. */
const toMorning = (day: string): string => toMoment(day, '07:00').toISOString();

const OPTIONS: readonly SnoozeOption[] = [
  { name: 'until it changes', body: () => ({ untilChange: true }) },
  { name: 'until tomorrow', body: () => ({ until: toMorning(dayFromNow(1)), untilChange: false }) },
  { name: 'for a week', body: () => ({ until: toMorning(dayFromNow(7)), untilChange: false }) },
];

const untilDay = (day: string): SnoozeOption => ({
  name: `until ${formatDay(day)}`,
  body: () => ({ until: toMorning(day), untilChange: false }),
});

/** A form for any day from tomorrow on. */
function UntilDay({ onDay }: { readonly onDay: (day: string) => Promise<void> }) {
  const tomorrow = dayFromNow(1);
  const [day, setDay] = useState(tomorrow);
  const [isBusy, snooze] = useAction(() => onDay(day));
  return (
    <form
      class="until"
      onSubmit={(event) => {
        event.preventDefault();
        snooze();
      }}
    >
      <label>
        Snooze until
        <input
          type="date"
          required
          min={tomorrow}
          value={day}
          onInput={({ currentTarget }) => setDay(currentTarget.value)}
        />
      </label>
      <button type="submit" aria-busy={isBusy}>
        Snooze until this date
      </button>
    </form>
  );
}
