import './panel.css';
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { components } from '../../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../../api.js';
import { user } from '../../session.js';
import { ActionButton, ConfirmButton, CopyButton } from '../../ui/buttons.js';
import { clearSent, Field, Select } from '../../ui/form.js';
import { Avatar } from '../../ui/icon.js';
import { RelativeTime } from '../../ui/time-elements.js';
import { showToast, showUndoToast } from '../../ui/toasts.js';
import { recordRateLimit } from '../data/forge-rate-limits.js';
import { type Board, FORGE_NAMES, getRowKey, type PullRequest, toCommit, toTarget } from '../data/rows.js';
import { Chip, PullRequestBadges } from '../list/badges.js';
import { toSelection } from '../list/selection.js';
import { RowActions } from '../row-actions.js';
import { Checks, Discussion } from './details.js';

/** Whether the window is too narrow for a list beside the panel; `panel.css` has the same width. */
const MODAL = matchMedia('(width <= 64rem)');

const isModal = signal(MODAL.matches);
MODAL.addEventListener('change', () => (isModal.value = MODAL.matches));

interface PanelProps {
  readonly board: Board;
  /** The address form of the pull request. */
  readonly selected: string;
  /** True on shared boards, which offer no actions. */
  readonly isReadOnly: boolean;
  readonly onClose: () => void;
}

/**
 * The details of one pull request beside the list, or over it in a narrow window. It takes the focus when it opens and returns
 * it to the row when it closes; Escape closes it.
 */
export function PullRequestPanel({ board, selected, isReadOnly, onClose }: PanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const row = board.pullRequests.find((one) => toSelection(one) === selected);
  const isOver = isModal.value;
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [selected, row === undefined]);
  useLayoutEffect(() => (isOver && panel.current !== null ? disableRest(panel.current) : undefined), [isOver]);
  useEffect(() => closeOnEscape(onClose), [onClose]);
  // The page reads the last selection when the panel is removed.
  const last = useRef(selected);
  last.current = selected;
  useLayoutEffect(() => () => void afterFrame(() => focusOnRow(last.current)), []);
  return (
    <div ref={panel} class="panel" role="dialog" aria-modal={isOver} aria-labelledby="panel-title">
      <button type="button" class="plain close" aria-label="Close details" onClick={onClose}>
        <span aria-hidden="true">×</span>
      </button>
      <h2 ref={heading} id="panel-title" tabIndex={-1} dir="auto">
        {row?.title ?? selected.replace(/^\w+\//, '').replace(/\/(\d+)$/, ' #$1')}
      </h2>
      {row === undefined ? (
        <p>This pull request is not on the board. It may be merged or closed.</p>
      ) : (
        <Content key={selected} row={row} isReadOnly={isReadOnly} />
      )}
    </div>
  );
}

function Content({ row, isReadOnly }: { readonly row: PullRequest; readonly isReadOnly: boolean }) {
  const { forge, repo, number, url, author, labels, baseBranch, headBranch, createdAt, updatedAt } = row;
  /** Counts the changes that the panel made, after which the discussion is read again. */
  const [changes, setChanges] = useState(0);
  return (
    <>
      <p class="quiet">
        <a href={url} target="_blank" rel="noreferrer">
          {repo} #{number}
        </a>{' '}
        on {FORGE_NAMES[forge]} · <Avatar name={author} />
        {author} · opened <RelativeTime time={createdAt} />, updated <RelativeTime time={updatedAt} />
      </p>
      {headBranch !== '' && (
        <p class="branches">
          <code>{headBranch}</code> <CopyButton value={headBranch} what="the branch name" />{' '}
          {baseBranch !== '' && (
            <span class="quiet">
              into <code>{baseBranch}</code>
            </span>
          )}
        </p>
      )}
      <p class="labels">
        <PullRequestBadges row={row} />
        {labels.map(({ name, color }) => (
          <Chip key={name} color={color}>
            {name}
          </Chip>
        ))}
      </p>
      {!isReadOnly && <RowActions row={row} />}
      <Checks row={row} />
      {!isReadOnly && <YourReview row={row} onChanged={() => setChanges((count) => count + 1)} />}
      <Discussion row={row} changes={changes} />
    </>
  );
}

/** Calls `onClose` for Escape, unless it closes a menu or belongs to a field or a dialog. */
function closeOnEscape(onClose: () => void): () => void {
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    if (document.querySelector('details.more[open], dialog[open]') !== null) return;
    if (event.target instanceof HTMLTextAreaElement) return;
    if (event.target instanceof HTMLInputElement && event.target.type !== 'checkbox') return;
    onClose();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

/**
 * Makes everything but the panel and the messages inert, as the panel covers it. Returns a function that undoes it. Both are
 * done after the next frame: they take a browser as long as drawing a long list again.
 */
function disableRest(panel: HTMLElement): () => void {
  const disabled: HTMLElement[] = [];
  const stop = afterFrame(() => {
    for (
      let place: HTMLElement | null = panel;
      place !== null && place !== document.body;
      place = place.parentElement
    ) {
      for (const sibling of place.parentElement?.children ?? []) {
        if (sibling === place || !(sibling instanceof HTMLElement) || sibling.inert) continue;
        if (sibling.matches('.toasts, dialog, script, style')) continue;
        sibling.inert = true;
        disabled.push(sibling);
      }
    }
  });
  return () => {
    stop();
    afterFrame(() => {
      for (const element of disabled) element.inert = false;
    });
  };
}

/** Calls a function after the browser has drawn the next frame. Returns a function that cancels it. */
function afterFrame(act: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => (timer = setTimeout(act)));
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

/** Focuses the row of a closed panel, unless the user has moved on. */
function focusOnRow(selection: string): void {
  const { activeElement } = document;
  if (activeElement !== null && activeElement !== document.body && activeElement.closest('.panel') === null) return;
  const row = document.querySelector(`.pull[data-key="${CSS.escape(selection)}"]`);
  row?.querySelector<HTMLElement>('a.open')?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: 'nearest' });
}

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
function YourReview({ row, onChanged }: FormProps) {
  const draftKey = `${user.value?.username} ${getRowKey(row)}`;
  const [text, showText] = useState(drafts.get(draftKey) ?? '');
  const setText = (next: string): void => {
    drafts.set(draftKey, next);
    showText(next);
  };
  const submit = async (verdict: Verdict, done: string): Promise<void> => {
    const body = { ...toCommit(row), verdict, ...(text.trim() !== '' && { text }) };
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
    setName(clearSent(name));
  };
  const isEmpty = name.trim() === '';
  return (
    <div class="edit">
      <Select label="Change" value={kind} options={KINDS} onValue={setKind} />
      <Field label="Name" value={name} onValue={setName} maxLength={255} autoCapitalize="none" spellcheck={false} />
      <ActionButton disabled={isEmpty} onAct={() => act('add')}>
        Add
      </ActionButton>
      <ActionButton disabled={isEmpty} onAct={() => act('remove')}>
        Remove
      </ActionButton>
    </div>
  );
}
