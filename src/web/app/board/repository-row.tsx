import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { ActionButton, useAction } from '../shell/action-button.js';
import { say } from '../shell/toasts.js';
import { changeRepository } from './board-store.js';
import { FORGE_NAMES } from './rows.js';
import type { Board } from './rows.js';

type Repository = Board['repos'][number];

interface RepositoryRowProps {
  readonly repository: Repository;
  readonly isReadOnly: boolean;
}

/** One repository: whether its forge tells of changes, what of it is on the board, and what is done by itself. */
export function RepositoryRow({ repository, isReadOnly }: RepositoryRowProps) {
  const { forge, fullName, url } = repository;
  return (
    <li class="pull repository">
      <div class="about">
        <div class="title">
          <a class="open" href={url} target="_blank" rel="noreferrer">
            {fullName}
          </a>
        </div>
        <div class="where quiet">{FORGE_NAMES[forge]}</div>
      </div>
      {!isReadOnly && <Webhook repository={repository} />}
      {!isReadOnly && <Choices repository={repository} />}
    </li>
  );
}

function Webhook({
  repository: { forge, fullName, hasWebhook, canManageWebhooks },
}: Omit<RepositoryRowProps, 'isReadOnly'>) {
  if (hasWebhook) return <span class="hook good">Webhook delivers</span>;
  if (!canManageWebhooks) {
    return (
      <span class="hook quiet">
        No webhook. The token may not set one up; see <a href="/settings">what it needs</a>, or set it up by hand.
      </span>
    );
  }
  const ensure = async (): Promise<void> => {
    requireAnswer(await dashboard.POST('/api/webhooks/ensure', { params: {}, body: { forge, fullName } }));
    say(`${FORGE_NAMES[forge]} tells of ${fullName} from now on. It shows here once the first delivery has come.`);
  };
  return (
    <span class="hook">
      <ActionButton aria-label={`Set up webhook of ${fullName}`} onAct={ensure}>
        Set up webhook
      </ActionButton>
    </span>
  );
}

/** Saved as they are ticked. */
function Choices({ repository }: Omit<RepositoryRowProps, 'isReadOnly'>) {
  const { forge, fullName, ignoredPRs, ignoredIssues, autoUpdateBranch } = repository;
  const reference = { forge, fullName };
  /** Shown as ticked at once, and as it was again when the server refuses. */
  const [, change] = useAction(async (next: Partial<Repository>, send: () => Promise<unknown>) => {
    changeRepository(reference, next);
    try {
      await send();
    } catch (error) {
      changeRepository(reference, repository);
      throw error;
    }
  });
  const ignore = (prs: boolean, issues: boolean): void =>
    change({ ignoredPRs: prs, ignoredIssues: issues, ignored: prs || issues }, async () =>
      requireAnswer(
        prs || issues
          ? await dashboard.POST('/api/repos/ignore', { body: { ...reference, prs, issues } })
          : await dashboard.POST('/api/repos/unignore', { body: reference }),
      ),
    );
  const update = (isOn: boolean): void =>
    change({ autoUpdateBranch: isOn }, async () => {
      const path = isOn ? '/api/repos/auto-update-branch/enable' : '/api/repos/auto-update-branch/disable';
      requireAnswer(await dashboard.POST(path, { body: reference }));
    });
  const box = (name: string, isOn: boolean, onToggle: (isOn: boolean) => void) => (
    <label class="choice">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onToggle(currentTarget.checked)} />
      <span>
        {name} <span class="aside">of {fullName}</span>
      </span>
    </label>
  );
  return (
    <div class="toggles">
      {box('Pull requests', !ignoredPRs, (isOn) => ignore(!isOn, ignoredIssues))}
      {box('Issues', !ignoredIssues, (isOn) => ignore(ignoredPRs, !isOn))}
      {box('Keep branches up to date', autoUpdateBranch, update)}
    </div>
  );
}
