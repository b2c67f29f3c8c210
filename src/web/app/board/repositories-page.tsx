import { useState } from 'preact/hooks';
import { BoardHead } from './board-head.js';
import { owner, problem, shown } from './board-store.js';
import { useBoard } from './follow-board.js';
import { RepositoryRow } from './repository-row.js';
import { repositoryName } from './rows.js';
import type { Board } from './rows.js';
import { Select } from '../shell/select.js';
import './board.css';

/** What the board is made of, and what is done with each of it. */
export function RepositoriesPage() {
  useBoard(true);
  const board = shown.value;
  return (
    <>
      <BoardHead title="Repositories" includeDrafts />
      <p class="quiet">
        With a webhook a change shows at once; without, when the forge is next read. <a href="/">Pull requests</a>
      </p>
      {board === undefined ? problem.value === undefined && <p class="quiet">Loading …</p> : <List board={board} />}
    </>
  );
}

type Repository = Board['repos'][number];

/** More at once would be slow to draw, and are found by name. */
const MOST = 200;

const KINDS = {
  all: ['All', () => true],
  pending: ['Without a webhook', ({ hasWebhook }: Repository) => !hasWebhook],
  ignored: ['Ignored', ({ ignored }: Repository) => ignored],
  updated: ['Kept up to date', ({ autoUpdateBranch }: Repository) => autoUpdateBranch],
} as const;

type Kind = keyof typeof KINDS;

function List({ board: { repos } }: { readonly board: Board }) {
  const [text, setText] = useState('');
  const [kind, setKind] = useState<Kind>('all');
  const wanted = text.trim().toLowerCase();
  const found = repos
    .filter((one) => KINDS[kind][1](one) && repositoryName(one).toLowerCase().includes(wanted))
    .sort((a, b) => repositoryName(a).localeCompare(repositoryName(b)));
  const names = Object.entries(KINDS).map(([value, [name]]) => [value as Kind, name] as const);
  return (
    <>
      <form role="search" aria-label="Filter repositories" class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="selects">
          <label class="search">
            Search names
            <input
              type="search"
              maxLength={255}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </label>
          <Select label="Show" value={kind} options={names} onValue={setKind} />
        </div>
      </form>
      <p class="quiet" role="status">
        {found.length} of {repos.length} match{found.length > MOST && `; the first ${MOST} are listed`}
      </p>
      <ul class="pulls repositories">
        {found.slice(0, MOST).map((one) => (
          <RepositoryRow key={repositoryName(one)} repository={one} isReadOnly={owner.value !== ''} />
        ))}
      </ul>
    </>
  );
}
