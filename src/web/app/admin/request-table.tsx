import type { components } from '../../../generated/dashboard/client.js';
import { TableHead } from '../ui/table-head.js';
import { formatDateTime } from '../ui/times.js';
import { FORGE_OPTIONS } from './request-filters.js';
import '../style/cards.css';

type Entry = components['schemas']['RequestLogEntry'];

const NAMES = ['Time', 'Code host', 'Account', 'Request', 'Result', 'Quota left'] as const;

const OUTCOMES: Readonly<Record<Entry['outcome'], string>> = {
  success: 'Success',
  unreachable: 'No response',
  unauthorized: 'Credential rejected',
  not_found: 'Not found',
  rate_limited: 'Rate limited',
  conflict: 'Conflict',
  address_refused: 'Address not allowed',
  unknown: 'Unexpected response',
};

const FORGE_TITLES = Object.fromEntries(FORGE_OPTIONS) as Readonly<Record<Entry['forge'], string>>;

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

/** Each cell carries the name of its column, as narrow pages show rows as cards. */
function Row({ entry: { loggedAt, forge, account, method, endpoint, outcome, statusCode, rateLimit } }: EntryProps) {
  return (
    <tr>
      <td data-name={NAMES[0]}>{formatDateTime(loggedAt)}</td>
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
