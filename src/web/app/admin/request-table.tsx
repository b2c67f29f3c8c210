import type { components } from '../../../generated/dashboard/client.js';
import { TableHead } from '../shell/table-head.js';
import { toMoment } from '../shell/times.js';
import { FORGES } from './request-filters.js';
import '../style/cards.css';

type Entry = components['schemas']['RequestLogEntry'];

const NAMES = ['When', 'Forge', 'Account', 'Request', 'Outcome', 'Budget left'] as const;

const OUTCOMES: Readonly<Record<Entry['outcome'], string>> = {
  success: 'Answered',
  unreachable: 'No answer',
  unauthorized: 'Refused the credential',
  not_found: 'Not found',
  rate_limited: 'Over the limit',
  conflict: 'Conflict',
  address_refused: 'Address not allowed',
  unknown: 'Not understood',
};

const FORGE_TITLES = Object.fromEntries(FORGES) as Readonly<Record<Entry['forge'], string>>;

export function RequestTable({ entries }: { readonly entries: readonly Entry[] }) {
  return (
    <table class="cards requests">
      <TableHead names={NAMES} />
      <tbody>
        {entries.map((entry, index) => (
          <Row key={index} entry={entry} />
        ))}
      </tbody>
    </table>
  );
}

/** Each cell has its column's name, for narrow pages that show a row as a card. */
function Row({ entry: { loggedAt, forge, account, method, endpoint, outcome, statusCode, rateLimit } }: EntryProps) {
  return (
    <tr>
      <td data-name={NAMES[0]}>{toMoment(loggedAt)}</td>
      <td data-name={NAMES[1]}>{FORGE_TITLES[forge]}</td>
      <td data-name={NAMES[2]}>{account}</td>
      <td data-name={NAMES[3]}>
        <code>
          {method} {endpoint}
        </code>
      </td>
      <td data-name={NAMES[4]} class={outcome === 'success' ? 'good' : 'bad'}>
        {OUTCOMES[outcome]}
        {statusCode !== undefined && ` (${statusCode})`}
      </td>
      <td data-name={NAMES[5]}>{rateLimit && `${rateLimit.remaining} of ${rateLimit.limit}`}</td>
    </tr>
  );
}

interface EntryProps {
  readonly entry: Entry;
}
