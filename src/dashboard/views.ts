import type { Caller } from '../accounts/callers.js';
import { requireUser } from '../accounts/callers.js';
import { AppError } from '../core/errors.js';
import type { components } from '../generated/dashboard/types.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { View } from './view-filter.js';

type SavedView = components['schemas']['SavedView'];

/** More than a user can keep apart in a list. */
const MAX_VIEWS = 50;

/** The caller's saved views. */
export interface Views {
  /** Lists views sorted by name. */
  list(caller: Caller | undefined): Promise<SavedView[]>;
  /** Creates a view, or replaces the one of the same name. @throws AppError `conflict` if there are 50 others. */
  save(caller: Caller | undefined, view: SavedView): Promise<SavedView>;
  /** Deletes a view and its feeds. Does nothing for an unknown name. */
  delete(caller: Caller | undefined, name: string): Promise<void>;
}

export function createViews(database: Database): Views {
  return {
    async list(caller) {
      const { personId } = requireUser(caller);
      const rows = await ownViews(database, personId).selectAll().execute();
      // Sorted here, because the text order of databases depends on engine and locale.
      return rows.map(({ name, view }) => ({ name, ...(JSON.parse(view) as View) })).sort(byName);
    },
    async save(caller, { name, filter, sort, group }) {
      const { personId } = requireUser(caller);
      const view = JSON.stringify({ filter, sort, group } satisfies View);
      await inTransaction(database, async (transaction) => {
        await assertBelowLimit(transaction, personId, name);
        const row = transaction.insertInto('views').values({ person_id: personId, name, view });
        // An update, because replacing the row would delete its feeds.
        await row.onConflict((conflict) => conflict.columns(['person_id', 'name']).doUpdateSet({ view })).execute();
      });
      return { name, filter, sort, group };
    },
    async delete(caller, name) {
      const { personId } = requireUser(caller);
      await database.deleteFrom('views').where('person_id', '=', personId).where('name', '=', name).execute();
    },
  };
}

/** Returns a view as JSON text; `undefined` if the user has no view of this name. */
export async function findViewText(database: Database, personId: string, name: string): Promise<string | undefined> {
  const [row] = await findView(database, { personId, name });
  return row?.view;
}

const findView = prepare((database, { personId, name }: { readonly personId: string; readonly name: string }) =>
  ownViews(database, personId).select('view').where('name', '=', name),
);

function ownViews(database: Database, personId: string) {
  return database.selectFrom('views').where('person_id', '=', personId);
}

async function assertBelowLimit(transaction: Database, personId: string, name: string): Promise<void> {
  const others = ownViews(transaction, personId).where('name', '!=', name);
  const { count } = await others.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count >= MAX_VIEWS) {
    throw new AppError('conflict', `You have reached the limit of ${MAX_VIEWS} views. Delete one first.`);
  }
}

const byName = (a: SavedView, b: SavedView): number => (a.name < b.name ? -1 : 1);
