import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { MEDIA_TYPES } from './formats.js';
import type { ImageDatabase } from './image-database.js';
import { onceAtATime } from '../in-turn.js';
import { makeOne, measure } from './make-images.js';
import type { Workshop } from './make-images.js';
import { makePixels, weightOf } from './pipeline.js';
import { digestOf, formatRecipe } from './recipe.js';
import type { Recipe } from './recipe.js';
import { requireUnchanged, unreadable } from './source.js';
import type { ImageSource } from './source.js';
import { toDataUri } from './trace.js';
import type { TraceOptions } from './trace.js';
import type { Tracers } from './tracers.js';

/** Gives an image at once where it is at hand; until it is asked, nothing is read or made. */
export type ReadInline = () => string | Promise<string>;

/** Images inside an answer, as data URIs: made once, and kept by what they were made from. */
export interface InlineImages {
  base64(source: ImageSource, recipe: Recipe): ReadInline;
  traced(source: ImageSource, recipe: Recipe, options: TraceOptions): ReadInline;
}

export interface InlineParts extends Workshop {
  readonly database: ImageDatabase;
  readonly tracers: Tracers;
}

/** 64 MB of text: some 50,000 previews. */
const MAX_KNOWN_CHARACTERS = 64 * 1024 * 1024;

export function createInlineImages(parts: InlineParts): InlineImages {
  const { database } = parts;
  const known = new LRUCache<string, string>({ maxSize: MAX_KNOWN_CHARACTERS, sizeCalculation: (text) => text.length });
  const select = database.prepare('SELECT value FROM inline WHERE picture = ? AND recipe = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO inline VALUES (?, ?, ?)');
  const once = onceAtATime<string>();

  function keep({ contentDigest }: ImageSource, recipe: string, make: () => Promise<string>): ReadInline {
    const key = `${contentDigest} ${recipe}`;
    const load = async (): Promise<string> => {
      const found = (select.get(contentDigest, recipe) as { value: string } | undefined)?.value;
      const value = found ?? (await once(key, make));
      if (found === undefined) insert.run(contentDigest, recipe, value);
      known.set(key, value);
      return value;
    };
    return () => known.get(key) ?? load();
  }

  return {
    base64: (source, recipe) =>
      keep(source, `base64 ${digestOf(formatRecipe(recipe))}`, async () => {
        // A preview keeps still.
        const header = { ...(await measure(parts, source, recipe)), pages: 1 };
        const bytes = await makeOne(parts, { source, header, recipe });
        return `data:${MEDIA_TYPES[recipe.format]};base64,${bytes.toString('base64')}`;
      }),
    traced: (source, recipe, options) =>
      keep(source, `traced ${digestOf(`${formatRecipe(recipe)} ${hash('sha256', JSON.stringify(options))}`)}`, () =>
        trace(parts, source, { recipe, options }),
      ),
  };
}

async function trace(
  parts: InlineParts,
  source: ImageSource,
  { recipe, options }: { readonly recipe: Recipe; readonly options: TraceOptions },
): Promise<string> {
  const header = await measure(parts, source, recipe);
  await requireUnchanged(source);
  const pixels = await parts.pool(() => makePixels(source, header, recipe), weightOf(header, recipe));
  await requireUnchanged(source);
  return parts.tracers.trace({ ...pixels, options }).then(toDataUri, (cause: unknown) => {
    throw unreadable(source, 'its outlines can\u2019t be drawn', cause);
  });
}
