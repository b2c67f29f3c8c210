import { useState } from 'preact/hooks';
import { toUserMessage } from '../api-errors.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { showToast } from '../ui/toasts.js';
import { rateLimitedUntil } from './forge-rate-limits.js';
import { ensureWebhook, setAutoUpdate } from './repository-actions.js';
import type { Repository } from './repository-filter.js';

/** Performs one action on every listed repository that allows it, one after the other, and reports the result. */
export function RepositoryBulk({ repositories }: { readonly repositories: readonly Repository[] }) {
  const [progress, setProgress] = useState('');
  const run = async (name: string, list: readonly Repository[], act: (one: Repository) => Promise<void>) => {
    let failures = 0;
    for (const [index, one] of list.entries()) {
      setProgress(`${index + 1} of ${list.length} …`);
      await act(one).catch((error: unknown) => {
        failures += 1;
        showToast(`${one.fullName}: ${toUserMessage(error)}`, 'failed');
      });
    }
    setProgress('');
    showToast(`${name}: ${list.length - failures} of ${list.length} done.`);
  };
  const button = (name: string, verb: string, list: readonly Repository[], act: (one: Repository) => Promise<void>) => (
    <ConfirmButton
      question={`${verb} ${list.length === 1 ? '1 repository' : `${list.length} repositories`}?`}
      disabled={list.length === 0 || progress !== ''}
      onAct={() => run(name, list, act)}
    >
      {name} ({list.length})
    </ConfirmButton>
  );
  const pending = repositories.filter(
    ({ forge, hasWebhook, canManageWebhooks }) =>
      !hasWebhook && canManageWebhooks && rateLimitedUntil[forge].value === undefined,
  );
  return (
    <div class="toggles" role="group" aria-label="All listed repositories">
      {button('Set up webhooks', 'Set up webhooks for', pending, ensureWebhook)}
      {button(
        'Auto-update all',
        'Auto-update',
        repositories.filter(({ autoUpdateBranch }) => !autoUpdateBranch),
        (one) => setAutoUpdate(one, true),
      )}
      {button(
        'Turn off auto-update',
        'Turn off auto-update for',
        repositories.filter(({ autoUpdateBranch }) => autoUpdateBranch),
        (one) => setAutoUpdate(one, false),
      )}
      <span role="status" class="quiet">
        {progress}
      </span>
    </div>
  );
}
