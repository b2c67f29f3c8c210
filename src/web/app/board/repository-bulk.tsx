import { useState } from 'preact/hooks';
import { explain } from '../answers.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { say } from '../shell/toasts.js';
import { LOCKS } from './forge-locks.js';
import { ensureWebhook, setAutoUpdate } from './repository-acts.js';
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
        say(`${one.fullName}: ${explain(error)}`, 'failed');
      });
    }
    setProgress('');
    say(`${name}: ${list.length - failures} of ${list.length} done.`);
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
    ({ forge, hasWebhook, canManageWebhooks }) => !hasWebhook && canManageWebhooks && LOCKS[forge].value === undefined,
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
