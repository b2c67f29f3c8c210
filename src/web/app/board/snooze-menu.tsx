import { useState } from 'preact/hooks';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { ActionButton, useAction } from '../shell/action-button.js';
import { toDay } from '../shell/times.js';
import { say } from '../shell/toasts.js';
import { changeRow } from './board-store.js';
import { targetOf } from './rows.js';
import type { PullRequest } from './rows.js';

interface Aside {
  readonly name: string;
  readonly body: () => { until?: string; untilChange: boolean };
}

/** Seven in the morning, here, some days from now. */
function morningIn(days: number): string {
  const date = new Date();
  date.setDate(date.getDate() + days);
  date.setHours(7, 0, 0, 0);
  return date.toISOString();
}

const CHOICES: readonly Aside[] = [
  { name: 'until it changes', body: () => ({ untilChange: true }) },
  { name: 'until tomorrow', body: () => ({ until: morningIn(1), untilChange: false }) },
  { name: 'for a week', body: () => ({ until: morningIn(7), untilChange: false }) },
];

const untilDay = (day: string): Aside => ({
  name: `until ${toDay(`${day}T00:00`)}`,
  body: () => ({ until: new Date(`${day}T07:00`).toISOString(), untilChange: false }),
});

/** A day as dates are typed in, here. */
const toTyped = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');

/** Any day, from tomorrow on. */
function UntilDay({ onDay }: { readonly onDay: (day: string) => Promise<void> }) {
  const tomorrow = toTyped(new Date(morningIn(1)));
  const [day, setDay] = useState(tomorrow);
  const [isBusy, setAside] = useAction(() => onDay(day));
  return (
    <form
      class="until"
      onSubmit={(event) => {
        event.preventDefault();
        setAside();
      }}
    >
      <label>
        Set aside until
        <input
          type="date"
          required
          min={tomorrow}
          value={day}
          onInput={({ currentTarget }) => setDay(currentTarget.value)}
        />
      </label>
      <button type="submit" aria-busy={isBusy}>
        Set aside until that day
      </button>
    </form>
  );
}

/** Sets a row aside, or takes it up again. */
export function SnoozeMenu({ row, onDone }: { readonly row: PullRequest; readonly onDone: () => void }) {
  const afterwards = (snoozed: PullRequest['snooze'], said: string): void => {
    changeRow(row, (one) => {
      const next: Omit<PullRequest, 'snooze'> & { snooze?: PullRequest['snooze'] } = { ...one };
      delete next.snooze;
      return snoozed === undefined ? next : { ...next, snooze: snoozed };
    });
    say(`${row.repo} #${row.number} ${said}.`);
    onDone();
  };
  const wake = async (): Promise<void> => {
    requireAnswer(await dashboard.POST('/api/pull-requests/unsnooze', { params: {}, body: targetOf(row) }));
    afterwards(undefined, 'is on the board again');
  };
  const snooze = async ({ name, body }: Aside): Promise<void> => {
    const snoozed = body();
    const request = { ...targetOf(row), ...snoozed };
    requireAnswer(await dashboard.POST('/api/pull-requests/snooze', { params: {}, body: request }));
    afterwards(snoozed, `is set aside ${name}`);
  };
  if (row.snooze) return <ActionButton onAct={wake}>Take up again</ActionButton>;
  return (
    <>
      {CHOICES.map((choice) => (
        <ActionButton key={choice.name} onAct={() => snooze(choice)}>
          Set aside {choice.name}
        </ActionButton>
      ))}
      <UntilDay onDay={(day) => snooze(untilDay(day))} />
    </>
  );
}
