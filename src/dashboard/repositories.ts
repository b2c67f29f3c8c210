import type { Caller } from '../accounts/callers.js';
import { requirePerson } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { RepositoryMarksTable } from '../storage/tables.js';
import { toRepositoryRow } from './actions/keep-marks.js';
import type { ForgeName } from './forges/facts.js';
import type { Refresher } from './refresh/refresher.js';

export interface RepositoryReference {
  readonly forge: ForgeName;
  readonly fullName: string;
}

/** What people say of repositories; the board shows it at once. One that is in no forge, or not yet, is taken too. */
export interface Repositories {
  /**
   * Leaves its pull requests, its issues or both off the board, whatever was left off before.
   *
   * @throws AppError `invalid_input` when neither is, or for a repository too many.
   */
  ignore(caller: Caller | undefined, what: RepositoryReference & Ignored): Promise<void>;
  unignore(caller: Caller | undefined, repository: RepositoryReference): Promise<void>;
  /** Has branches updated that fall behind, at each refresh. @throws AppError `invalid_input` for a repository too many. */
  enableAutoUpdate(caller: Caller | undefined, repository: RepositoryReference): Promise<void>;
  disableAutoUpdate(caller: Caller | undefined, repository: RepositoryReference): Promise<void>;
}

interface Ignored {
  readonly prs: boolean;
  readonly issues: boolean;
}

export interface RepositoriesOptions {
  readonly database: Database;
  readonly refresher: Pick<Refresher, 'recompose'>;
}

/** A board follows 2,000 repositories of each of three forges at most; nobody has that many to say something of. */
const MAX_MARKED = 6_000;

type Change = Partial<Pick<RepositoryMarksTable, 'auto_update_branch' | 'ignored_issues' | 'ignored_prs'>>;

export function createRepositories({ database, refresher }: RepositoriesOptions): Repositories {
  async function mark(caller: Caller | undefined, { forge, fullName }: RepositoryReference, change: Change) {
    const { personId } = requirePerson(caller);
    const row = toRepositoryRow({ personId, forge, fullName });
    await inTransaction(database, async (transaction) => {
      await saveChange(transaction, row, change);
      await requireRoom(transaction, personId);
    });
    await refresher.recompose(personId);
  }
  return {
    async ignore(caller, { prs, issues, ...repository }) {
      if (!prs && !issues) {
        const message = 'Expected prs, issues or both to be ignored; neither is.';
        throw new AppError('invalid_input', message, { field: 'prs' });
      }
      await mark(caller, repository, { ignored_prs: Number(prs), ignored_issues: Number(issues) });
    },
    unignore: (caller, repository) => mark(caller, repository, { ignored_prs: 0, ignored_issues: 0 }),
    enableAutoUpdate: (caller, repository) => mark(caller, repository, { auto_update_branch: 1 }),
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

async function requireRoom(database: Database, personId: string): Promise<void> {
  const marks = database.selectFrom('repository_marks').where('person_id', '=', personId);
  const { count } = await marks.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count <= MAX_MARKED) return;
  const message = `Expected to be told of at most ${MAX_MARKED} repositories; take something back first.`;
  throw new AppError('invalid_input', message, { field: 'fullName' });
}
