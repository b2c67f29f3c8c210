import { useState } from 'preact/hooks';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { ActionButton, useAction } from '../ui/action-button.js';
import { formatDate } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { changeRow } from './board-store.js';
import { toTarget } from './rows.js';
import type { PullRequest } from './rows.js';

interface SnoozeOption {
  readonly name: string;
  readonly body: () => { until?: string; untilChange: boolean };
}

/** Returns 7:00 local time, a number of days from now. */
function morningIn(days: number): string {
  const date = new Date();
  date.setDate(date.getDate() + days);
  date.setHours(7, 0, 0, 0);
  return date.toISOString();
}

const OPTIONS: readonly SnoozeOption[] = [
  { name: 'until it changes', body: () => ({ untilChange: true }) },
  { name: 'until tomorrow', body: () => ({ until: morningIn(1), untilChange: false }) },
  { name: 'for a week', body: () => ({ until: morningIn(7), untilChange: false }) },
];

const untilDay = (day: string): SnoozeOption => ({
  name: `until ${formatDate(`${day}T00:00`)}`,
  body: () => ({ until: new Date(`${day}T07:00`).toISOString(), untilChange: false }),
});

/** Formats a local date as the value of a date input. */
const toInputValue = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');

/** A form for any day from tomorrow on. */
function UntilDay({ onDay }: { readonly onDay: (day: string) => Promise<void> }) {
  const tomorrow = toInputValue(new Date(morningIn(1)));
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

/** Menu entries that snooze or unsnooze a row. */
export function SnoozeMenu({ row, onDone }: { readonly row: PullRequest; readonly onDone: () => void }) {
  const showChange = (snoozed: PullRequest['snooze'], message: string): void => {
    changeRow(row, (one) => {
      const next: Omit<PullRequest, 'snooze'> & { snooze?: PullRequest['snooze'] } = { ...one };
      delete next.snooze;
      return snoozed === undefined ? next : { ...next, snooze: snoozed };
    });
    showToast(`${row.repo} #${row.number} ${message}.`);
    onDone();
  };
  const unsnooze = async (): Promise<void> => {
    requireData(await dashboardClient.POST('/api/pull-requests/unsnooze', { params: {}, body: toTarget(row) }));
    showChange(undefined, 'is no longer snoozed');
  };
  const snooze = async ({ name, body }: SnoozeOption): Promise<void> => {
    const snoozed = body();
    const request = { ...toTarget(row), ...snoozed };
    requireData(await dashboardClient.POST('/api/pull-requests/snooze', { params: {}, body: request }));
    showChange(snoozed, `is snoozed ${name}`);
  };
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
