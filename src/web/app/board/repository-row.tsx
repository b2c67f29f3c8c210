import { toUserMessage } from '../api-errors.js';
import { ActionButton } from '../ui/action-button.js';
import { showToast } from '../ui/toasts.js';
import { rateLimitedUntil, rateLimitNoticeId } from './forge-rate-limits.js';
import { ensureWebhook, setAutoUpdate, setIgnored } from './repository-actions.js';
import type { Repository } from './repository-filter.js';
import { FORGE_NAMES } from './rows.js';

interface RepositoryRowProps {
  readonly repository: Repository;
  readonly isReadOnly: boolean;
}

/** One repository: its webhook, what the board shows of it, and its automation. */
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

function Webhook({ repository }: Omit<RepositoryRowProps, 'isReadOnly'>) {
  const { forge, fullName, hasWebhook, canManageWebhooks } = repository;
  if (hasWebhook) return <span class="hook good">Webhook active</span>;
  if (!canManageWebhooks) {
    return (
      <span class="hook quiet">
        No webhook. The token can’t create one: see <a href="/settings">the permissions it needs</a>, or set it up
        manually.
      </span>
    );
  }
  const isLocked = rateLimitedUntil[forge].value !== undefined;
  const ensure = async (): Promise<void> => {
    if (isLocked) return;
    await ensureWebhook(repository);
    showToast(
      `Webhook for ${fullName} set up. It shows as active after the first delivery from ${FORGE_NAMES[forge]}.`,
    );
  };
  return (
    <span class="hook">
      <ActionButton
        aria-label={`Set up webhook for ${fullName}`}
        aria-disabled={isLocked}
        aria-describedby={isLocked ? rateLimitNoticeId(forge) : undefined}
        onAct={ensure}
      >
        Set up webhook
      </ActionButton>
    </span>
  );
}

/** The checkboxes of a repository; each change is saved at once. */
function Choices({ repository }: Omit<RepositoryRowProps, 'isReadOnly'>) {
  const { fullName, ignoredPRs, ignoredIssues, autoUpdateBranch } = repository;
  const change = (work: Promise<void>): void =>
    void work.catch((error: unknown) => showToast(toUserMessage(error), 'failed'));
  const ignore = (prs: boolean, issues: boolean): void => change(setIgnored(repository, prs, issues));
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
      {box('Auto-update branches', autoUpdateBranch, (isOn) => change(setAutoUpdate(repository, isOn)))}
    </div>
  );
}
