import { useEffect, useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { Select } from '../ui/select.js';

type ForgeName = components['schemas']['ForgeName'];

export interface RequestFilter {
  readonly forge: ForgeName | '';
  readonly account: string;
}

export const NO_REQUEST_FILTER: RequestFilter = { forge: '', account: '' };

export const FORGE_OPTIONS: readonly (readonly [ForgeName, string])[] = [
  ['github', 'GitHub'],
  ['forgejo', 'Forgejo or Gitea'],
  ['gitlab', 'GitLab'],
];

/** The pause in typing after which the list is loaded. */
const TYPING_PAUSE_MS = 400;

interface RequestFiltersProps {
  readonly filter: RequestFilter;
  readonly onFilter: (filter: RequestFilter) => void;
}

export function RequestFilters({ filter, onFilter }: RequestFiltersProps) {
  const [account, setAccount] = useState(filter.account);
  useEffect(() => {
    const typed = account.trim();
    if (typed === filter.account) return;
    const timer = setTimeout(() => onFilter({ ...filter, account: typed }), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [account, filter]);
  return (
    <form role="search" aria-label="Filter requests" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <Select
          label="Code host"
          value={filter.forge}
          options={[['', 'All'], ...FORGE_OPTIONS]}
          onValue={(forge) => onFilter({ ...filter, forge })}
        />
        <label>
          Account
          <input
            type="search"
            maxLength={64}
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            value={account}
            onInput={({ currentTarget }) => setAccount(currentTarget.value)}
          />
        </label>
      </div>
    </form>
  );
}

/** Converts the filter to query parameters. */
export const toRequestQuery = ({ forge, account }: RequestFilter) => ({
  ...(forge !== '' && { forge }),
  ...(account !== '' && { account }),
});
