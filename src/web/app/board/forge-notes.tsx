import type { Board } from './rows.js';
import { FORGE_NAMES } from './rows.js';
import { toAge } from '../shell/age.js';

/** What is wrong with a forge, where something is: rows of it may be old, or not all; and what was merged by itself. */
export function ForgeNotes({ board }: { readonly board: Board }) {
  const notes = [...board.forges.flatMap(notesOf), ...board.autoMerged.map(describeMerge)];
  if (notes.length === 0) return null;
  return (
    <ul class="notes" role="status">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

type Forge = Board['forges'][number];

function notesOf({ forge, error, staleSince, truncated, rateLimitGraphQL, rateLimitREST }: Forge): string[] {
  const name = FORGE_NAMES[forge];
  const since = staleSince === undefined ? '' : ` What is shown is from ${toAge(staleSince)}.`;
  const spent = [rateLimitGraphQL, rateLimitREST].find((limit) => limit !== undefined && limit.severity !== 'ok');
  return [
    ...(error === undefined ? [] : [`${name}: ${error}${since}`]),
    ...(truncated ? [`${name} has more pull requests than the 1,000 that are read.`] : []),
    ...(spent
      ? [`${name} takes ${spent.remaining} of ${spent.limit} requests; it is given more ${toAge(spent.resetsAt)}.`]
      : []),
  ];
}

const describeMerge = ({ forge, fullName, number }: Board['autoMerged'][number]): string =>
  `${fullName} #${number} (${FORGE_NAMES[forge]}) was merged by itself.`;
