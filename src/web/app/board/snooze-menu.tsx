import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { ActionButton } from '../shell/action-button.js';
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
    </>
  );
}
