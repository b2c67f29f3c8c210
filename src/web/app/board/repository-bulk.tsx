import { useState } from 'preact/hooks';
import { explain } from '../answers.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { say } from '../shell/toasts.js';
import { LOCKS } from './forge-locks.js';
import { ensureWebhook, setAutoUpdate } from './repository-acts.js';
import type { Repository } from './repository-filter.js';

/** Does one thing to every repository that is listed and allows it, one after the other, and says how it went. */
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
  const button = (name: string, list: readonly Repository[], act: (one: Repository) => Promise<void>) => (
    <ConfirmButton
      question={`Really, all ${list.length}?`}
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
    <div class="toggles" role="group" aria-label="All that are listed">
      {button('Set up webhooks', pending, ensureWebhook)}
      {button(
        'Keep all up to date',
        repositories.filter(({ autoUpdateBranch }) => !autoUpdateBranch),
        (one) => setAutoUpdate(one, true),
      )}
      {button(
        'Update none by itself',
        repositories.filter(({ autoUpdateBranch }) => autoUpdateBranch),
        (one) => setAutoUpdate(one, false),
      )}
      <span role="status" class="quiet">
        {progress}
      </span>
    </div>
  );
}
