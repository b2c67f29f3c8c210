import { Countdown } from '../shell/countdown.js';
import { toAge } from '../shell/age.js';
import { toTime } from '../shell/times.js';
import { budgetsOf, describeLock, lockId, LOCKS } from './forge-locks.js';
import type { Board, ForgeName } from './rows.js';
import { FORGE_NAMES } from './rows.js';

/** What is wrong with a forge, where something is: rows of it may be old, or not all, or be locked; and what was merged by itself. */
export function ForgeNotes({ board }: { readonly board: Board }) {
  const notes = [...board.forges.flatMap(notesOf), ...board.autoMerged.map(describeMerge)];
  const locked = (Object.keys(LOCKS) as ForgeName[]).filter((forge) => LOCKS[forge].value !== undefined);
  return (
    <div class="notes" role="status" hidden={notes.length + locked.length === 0}>
      <ul>
        {locked.map((forge) => (
          <LockNote key={forge} forge={forge} />
        ))}
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}

/** Says when, once; how long that is counts down beside it. */
function LockNote({ forge }: { readonly forge: ForgeName }) {
  const until = LOCKS[forge].value;
  if (until === undefined) return null;
  return (
    <li>
      <span id={lockId(forge)}>{describeLock(forge, until)}</span> <Countdown until={until} />
    </li>
  );
}

type Forge = Board['forges'][number];

function notesOf(one: Forge): string[] {
  const { forge, error, staleSince, truncated } = one;
  const name = FORGE_NAMES[forge];
  const since = staleSince === undefined ? '' : ` What is shown is from ${toAge(staleSince)}.`;
  // What is spent is told by its lock, and forgotten when that ends.
  const short = budgetsOf(one).filter(({ severity }) => severity === 'warning' || severity === 'low');
  return [
    ...(error === undefined ? [] : [`${name}: ${error}${since}`]),
    ...(truncated ? [`${name} has more pull requests than the 1,000 that are read.`] : []),
    ...short
      .filter(({ resetsAt }) => Date.parse(resetsAt) > Date.now())
      .map(
        ({ kind, remaining, limit, resetsAt }) =>
          `${name} has ${format(remaining)} of ${format(limit)} ${kind}requests left until ${toTime(Date.parse(resetsAt))}.`,
      ),
  ];
}

const format = (count: number): string => count.toLocaleString();

const describeMerge = ({ forge, fullName, number }: Board['autoMerged'][number]): string =>
  `${fullName} #${number} (${FORGE_NAMES[forge]}) was merged by itself.`;
