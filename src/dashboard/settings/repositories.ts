import { AppError } from '@trellis/core/errors';
import { type Caller, requireUser } from '../../accounts/callers.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { RepositoryMarksTable } from '../../storage/tables.js';
import { assertRepositoryName } from '../forges/forge-clients.js';
import { toRepositoryRow } from '../pull-requests/state-entries.js';
import type { Refresher } from '../refresh/refresher.js';
import type { RepositoryReference } from '../webhooks/set-up-webhook.js';

/**
 * A user's settings for single repositories. The board shows changes at once. Repositories that no forge lists are
 * accepted too.
 */
export interface Repositories {
  /**
   * Hides the pull requests, the issues or both of a repository from the board. Replaces the previous choice.
   *
   * @throws AppError `invalid_input` if both are false, for a name that no repository of the forge can have, or
   * above the limit of repositories.
   */
  ignore(caller: Caller | undefined, repository: RepositoryReference & Ignored): Promise<void>;
  unignore(caller: Caller | undefined, repository: RepositoryReference): Promise<void>;
  /**
   * Enables automatic updates of branches that are behind their base, at each refresh.
   *
   * @throws AppError `invalid_input` for a name that no repository of the forge can have, or above the limit of
   * repositories.
   */
  enableAutoUpdate(caller: Caller | undefined, repository: RepositoryReference): Promise<void>;
  disableAutoUpdate(caller: Caller | undefined, repository: RepositoryReference): Promise<void>;
}

interface Ignored {
  readonly prs: boolean;
  readonly issues: boolean;
}

export interface RepositoriesOptions {
  readonly database: Database;
  readonly refresher: Pick<Refresher, 'rebuildBoard'>;
}

/** A board has at most 2,000 repositories of each of the three forges. */
const MAX_MARKED = 6_000;

type Change = Partial<Pick<RepositoryMarksTable, 'auto_update_branch' | 'ignored_issues' | 'ignored_prs'>>;

export function createRepositories({ database, refresher }: RepositoriesOptions): Repositories {
  async function mark(caller: Caller | undefined, { forge, fullName }: RepositoryReference, change: Change) {
    const { personId } = requireUser(caller);
    const row = toRepositoryRow({ personId, forge, fullName });
    await inTransaction(database, async (transaction) => {
      await saveChange(transaction, row, change);
      await assertBelowLimit(transaction, personId);
    });
    await refresher.rebuildBoard(personId);
  }
  return {
    async ignore(caller, { prs, issues, ...repository }) {
      if (!prs && !issues) {
        const message = 'Set at least one of prs and issues to true.';
        throw new AppError('invalid_input', message, { field: 'prs' });
      }
      assertRepositoryName(repository.forge, repository.fullName);
      await mark(caller, repository, { ignored_prs: Number(prs), ignored_issues: Number(issues) });
    },
    unignore: (caller, repository) => mark(caller, repository, { ignored_prs: 0, ignored_issues: 0 }),
    async enableAutoUpdate(caller, repository) {
      assertRepositoryName(repository.forge, repository.fullName);
      await mark(caller, repository, { auto_update_branch: 1 });
    },
    disableAutoUpdate: (caller, repository) => mark(caller, repository, { auto_update_branch: 0 }),
  };
}

async function saveChange(database: Database, row: ReturnType<typeof toRepositoryRow>, change: Change): Promise<void> {
  const unmarked = { ignored_prs: 0, ignored_issues: 0, auto_update_branch: 0 };
  await database
    .insertInto('repository_marks')
    .values({ ...row, ...unmarked, ...change, webhook_seen_at: null })
    .onConflict((conflict) => conflict.columns(['person_id', 'forge', 'repo']).doUpdateSet(change))
    .execute();
  await database
    .deleteFrom('repository_marks')
    .where((is) => is.and({ ...row, ...unmarked }))
    .where('webhook_seen_at', 'is', null)
    .execute();
}

async function assertBelowLimit(database: Database, personId: string): Promise<void> {
  const marks = database.selectFrom('repository_marks').where('person_id', '=', personId);
  const { count } = await marks.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count <= MAX_MARKED) return;
  const message = `You have reached the limit of ${MAX_MARKED} ignored or auto-updated repositories. Reset one first.`;
  throw new AppError('invalid_input', message, { field: 'fullName' });
}
