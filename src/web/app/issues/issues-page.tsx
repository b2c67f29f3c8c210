import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { followBoard, problem, shown } from '../board/board-store.js';
import { Chip } from '../board/chip.js';
import { ForgeNotes } from '../board/forge-notes.js';
import { FORGE_NAMES } from '../board/rows.js';
import { toAge } from '../shell/age.js';
import { Heading } from '../shell/heading.js';
import { Select } from '../shell/select.js';
import { toMoment } from '../shell/times.js';
import '../board/board.css';

type Issue = components['schemas']['Issue'];

interface IssueFilter {
  readonly text: string;
  readonly repo: string;
  readonly author: string;
  readonly label: string;
  readonly housekeeping: boolean;
}

const NO_FILTER: IssueFilter = { text: '', repo: '', author: '', label: '', housekeeping: false };

/** Kept while the application is open. */
const filter = signal(NO_FILTER);

export function IssuesPage() {
  useEffect(() => {
    const controller = new AbortController();
    void followBoard(false, controller.signal);
    return () => controller.abort();
  }, []);
  const board = shown.value;
  return (
    <>
      <Heading>Issues</Heading>
      {problem.value !== undefined && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {board === undefined ? (
        <p class="quiet">Loading …</p>
      ) : (
        <>
          <ForgeNotes board={board} />
          <Issues issues={board.issues} />
        </>
      )}
    </>
  );
}

function Issues({ issues }: { readonly issues: readonly Issue[] }) {
  const used = filter.value;
  const selected = useMemo(() => issues.filter((issue) => isSelected(issue, used)), [issues, used]);
  return (
    <>
      <Filters issues={issues} />
      <p class="quiet" role="status">
        {selected.length} of {issues.length} shown
      </p>
      <ul class="pulls">
        {selected.map((issue) => (
          <IssueRow key={`${issue.forge} ${issue.repo} ${issue.number}`} issue={issue} />
        ))}
      </ul>
      {selected.length === 0 && <p>{issues.length === 0 ? 'No issue is open.' : 'Nothing matches.'}</p>}
    </>
  );
}

function isSelected(issue: Issue, { text, repo, author, label, housekeeping }: IssueFilter): boolean {
  const wanted = text.trim().toLowerCase();
  return (
    (housekeeping || !issue.housekeeping) &&
    (repo === '' || issue.repo === repo) &&
    (author === '' || issue.author === author) &&
    (label === '' || issue.labels.some(({ name }) => name === label)) &&
    (wanted === '' || issue.title.toLowerCase().includes(wanted))
  );
}

function Filters({ issues }: { readonly issues: readonly Issue[] }) {
  const choices = useMemo(
    () => ({
      repo: offer(issues.map(({ repo }) => repo)),
      author: offer(issues.map(({ author }) => author)),
      label: offer(issues.flatMap(({ labels }) => labels.map(({ name }) => name))),
    }),
    [issues],
  );
  const change = (part: Partial<IssueFilter>): void => void (filter.value = { ...filter.value, ...part });
  return (
    <form role="search" aria-label="Filter issues" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <label>
          Search titles
          <input
            type="search"
            maxLength={255}
            value={filter.value.text}
            onInput={({ currentTarget }) => change({ text: currentTarget.value })}
          />
        </label>
        <Select
          label="Repository"
          value={filter.value.repo}
          options={choices.repo}
          onValue={(repo) => change({ repo })}
        />
        <Select
          label="Author"
          value={filter.value.author}
          options={choices.author}
          onValue={(author) => change({ author })}
        />
        <Select
          label="Label"
          value={filter.value.label}
          options={choices.label}
          onValue={(label) => change({ label })}
        />
        <label class="choice">
          <input
            type="checkbox"
            checked={filter.value.housekeeping}
            onChange={({ currentTarget }) => change({ housekeeping: currentTarget.checked })}
          />
          Lists that bots keep
        </label>
        <button type="button" onClick={() => (filter.value = NO_FILTER)}>
          Clear filters
        </button>
      </div>
    </form>
  );
}

const offer = (values: readonly string[]): readonly (readonly [string, string])[] => [
  ['', 'All'],
  ...[...new Set(values)].sort((a, b) => a.localeCompare(b)).map((value) => [value, value] as const),
];

function IssueRow({ issue }: { readonly issue: Issue }) {
  return (
    <li class="pull issue">
      <div class="about">
        <div class="title">
          <a class="open" href={issue.url} target="_blank" rel="noreferrer">
            {issue.title}
          </a>{' '}
          {issue.labels.map(({ name, color }) => (
            <Chip key={name} color={color} onClick={() => (filter.value = { ...filter.value, label: name })}>
              {name}
            </Chip>
          ))}
        </div>
        <div class="where quiet">
          {issue.repo} #{issue.number} · {FORGE_NAMES[issue.forge]} · {issue.author} ·{' '}
          <time dateTime={issue.updatedAt} title={toMoment(issue.updatedAt)}>
            {toAge(issue.updatedAt)}
          </time>
        </div>
      </div>
    </li>
  );
}
