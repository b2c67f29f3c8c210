import { useState } from 'preact/hooks';
import type { components } from '../../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../../api.js';
import { user } from '../../session.js';
import { ActionButton, ConfirmButton } from '../../ui/buttons.js';
import { Field, Select } from '../../ui/form.js';
import { showToast, showUndoToast } from '../../ui/toasts.js';
import { recordRateLimit } from '../data/forge-rate-limits.js';
import { getRowKey, type PullRequest, toTarget } from '../data/rows.js';

type Schemas = components['schemas'];
type Verdict = Schemas['ReviewRequest']['verdict'];

interface FormProps {
  readonly row: PullRequest;
  /** Called after a change at the forge. */
  readonly onChanged: () => void;
}

const VERDICTS: readonly { readonly verdict: Verdict; readonly name: string; readonly done: string }[] = [
  { verdict: 'approve', name: 'Approve', done: 'was approved' },
  { verdict: 'request_changes', name: 'Request changes', done: 'has requested changes' },
  { verdict: 'comment', name: 'Comment', done: 'has your comment' },
];

/** The comments that were not sent, by user and pull request: the panel forgets them when it closes. */
const drafts = new Map<string, string>();

/** A form that submits a review, and one that changes reviewers, assignees and labels. */
export function YourReview({ row, onChanged }: FormProps) {
  const draftKey = `${user.value?.username} ${getRowKey(row)}`;
  const [text, showText] = useState(drafts.get(draftKey) ?? '');
  const setText = (next: string): void => {
    drafts.set(draftKey, next);
    showText(next);
  };
  const submit = async (verdict: Verdict, done: string): Promise<void> => {
    const body = { ...toTarget(row), verdict, ...(text.trim() !== '' && { text }) };
    await send(row, async () =>
      requireData(await dashboardClient.POST('/api/pull-requests/review', { params: {}, body })),
    );
    showToast(`${row.repo} #${row.number} ${done}.`);
    // The user may have continued to type.
    if (drafts.get(draftKey) === text) setText('');
    onChanged();
  };
  // GitLab has no operation that requests changes.
  const offered = VERDICTS.filter(({ verdict }) => row.forge !== 'gitlab' || verdict !== 'request_changes');
  return (
    <section aria-labelledby="panel-your-review">
      <h3 id="panel-your-review">Your review</h3>
      <label class="review-text">
        Comment
        <textarea
          rows={3}
          maxLength={60_000}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p class="verdicts">
        {offered.map(({ verdict, name, done }) => (
          <ConfirmButton
            key={verdict}
            label={`${name} #${row.number}`}
            question={`${name} #${row.number}?`}
            disabled={verdict !== 'approve' && text.trim() === ''}
            onAct={() => submit(verdict, done)}
          >
            {name}
          </ConfirmButton>
        ))}
      </p>
      <Edit row={row} onChanged={onChanged} />
    </section>
  );
}

/** Performs a request, and remembers an exceeded rate limit. @throws ApiError with the server's reason. */
async function send(row: PullRequest, request: () => Promise<unknown>): Promise<void> {
  await request().catch((error: unknown) => {
    recordRateLimit(row, error);
    throw error;
  });
}

const KINDS = [
  ['reviewers', 'Reviewer'],
  ['assignees', 'Assignee'],
  ['labels', 'Label'],
] as const;

type Kind = (typeof KINDS)[number][0];

function Edit({ row, onChanged }: FormProps) {
  const [kind, setKind] = useState<Kind>('reviewers');
  const [name, setName] = useState('');
  const edit = async (change: 'add' | 'remove'): Promise<void> => {
    const body = { ...toTarget(row), [kind]: { [change]: [name.trim()] } };
    await send(row, async () =>
      requireData(await dashboardClient.POST('/api/pull-requests/edit', { params: {}, body })),
    );
    onChanged();
  };
  const act = async (change: 'add' | 'remove'): Promise<void> => {
    await edit(change);
    const said = change === 'add' ? 'added to' : 'removed from';
    showUndoToast(`${name.trim()} was ${said} ${row.repo} #${row.number}.`, 'Undone.', () =>
      edit(change === 'add' ? 'remove' : 'add'),
    );
    setName('');
  };
  const isEmpty = name.trim() === '';
  return (
    <div class="edit">
      <Select label="Change" value={kind} options={KINDS} onValue={setKind} />
      <Field
        label="Name"
        value={name}
        onValue={setName}
        maxLength={255}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
      />
      <ActionButton disabled={isEmpty} onAct={() => act('add')}>
        Add
      </ActionButton>
      <ActionButton disabled={isEmpty} onAct={() => act('remove')}>
        Remove
      </ActionButton>
    </div>
  );
}
