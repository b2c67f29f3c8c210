import type { ImageDatabase } from './image-database.js';
import { digestOf, formatRecipe, parseRecipe } from './recipe.js';
import type { Recipe } from './recipe.js';

/** A picture, and what was asked to be made of it. */
export interface Handout {
  readonly contentDigest: string;
  readonly recipeDigest: string;
}

/** The links that answers handed out: what may be made, and only that. */
export interface LinkStore {
  /** Notes a link, and gives the digest of its recipe. It is kept once {@link LinkStore.saved} resolves. */
  handOut(contentDigest: string, recipe: Recipe): string;
  /** Resolves when all that was handed out so far would survive the end of the process. */
  saved(): Promise<void>;
  /** `undefined` unless this link was handed out. */
  findRecipe(link: Handout): Recipe | undefined;
  /** All that was handed out. */
  list(): Iterable<Handout>;
}

export function createLinkStore(database: ImageDatabase): LinkStore {
  const insertRecipe = database.prepare('INSERT OR IGNORE INTO recipes VALUES (?, ?)');
  const insertLink = database.prepare('INSERT OR IGNORE INTO links VALUES (?, ?)');
  const select = database.prepare('SELECT value FROM recipes NATURAL JOIN links WHERE picture = ? AND recipe = ?');
  let pending: { contentDigest: string; recipeDigest: string; text: string }[] = [];
  let saving: Promise<void> | undefined;

  function save(): void {
    const batch = pending;
    pending = [];
    saving = undefined;
    inTransaction(database, () => {
      for (const { contentDigest, recipeDigest, text } of batch) {
        insertRecipe.run(recipeDigest, text);
        insertLink.run(contentDigest, recipeDigest);
      }
    });
  }

  return {
    handOut(contentDigest, recipe) {
      const text = formatRecipe(recipe);
      const recipeDigest = digestOf(text);
      pending.push({ contentDigest, recipeDigest, text });
      return recipeDigest;
    },
    // One commit for all the fields of an answer, however many pictures it has.
    saved: () =>
      (saving ??= new Promise<void>((resolve, reject) => {
        setImmediate(() => {
          try {
            save();
            resolve();
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
      })),
    findRecipe({ contentDigest, recipeDigest }) {
      if (pending.length > 0) save();
      const row = select.get(contentDigest, recipeDigest) as { value: string } | undefined;
      return row && parseRecipe(row.value);
    },
    list: () =>
      database.prepare('SELECT picture AS contentDigest, recipe AS recipeDigest FROM links').all() as Handout[],
  };
}

/** Takes the write lock at once, so that another process is waited for and not run into. */
function inTransaction(database: ImageDatabase, change: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    change();
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}
