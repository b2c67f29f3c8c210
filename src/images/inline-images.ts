import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { onceAtATime } from '../in-turn.js';
import { measure } from './make-images.js';
import type { Workshop } from './make-images.js';
import type { Quota } from './quota.js';
import { digestOf, formatRecipe } from './recipe.js';
import type { Recipe } from './recipe.js';
import type { ImageSource } from './source.js';
import { toDataUri } from './trace.js';
import type { TraceOptions } from './trace.js';

/** Gives an image at once where it is at hand; until it is asked, nothing is read or made. */
export type ReadInline = () => string | Promise<string>;

/** Images inside an answer, as data URIs: made once, and kept by what they were made from. */
export interface InlineImages {
  base64(source: ImageSource, recipe: Recipe): ReadInline;
  traced(source: ImageSource, recipe: Recipe, options: TraceOptions): ReadInline;
}

export interface InlineParts extends Workshop {
  /** Where they are stored. */
  readonly values: Quota;
}

/** 64 MB of text: some 50,000 previews. */
const MAX_KNOWN_CHARACTERS = 64 * 1024 * 1024;

/** A page loads faster with a link than with a larger image inside it; twelve of them make an answer of 16 MB. */
const MAX_INLINE_BYTES = 2 ** 20;

export function createInlineImages(parts: InlineParts): InlineImages {
  const { renderer, values } = parts;
  const known = new LRUCache<string, string>({ maxSize: MAX_KNOWN_CHARACTERS, sizeCalculation: (text) => text.length });
  const once = onceAtATime<string>();

  function keep({ contentDigest }: ImageSource, recipe: string, make: () => Promise<string>): ReadInline {
    const key = `${contentDigest} ${recipe}`;
    async function load(): Promise<string> {
      const value = values.find(key) ?? (await once(key, makeAndStore));
      known.set(key, value);
      return value;
    }
    async function makeAndStore(): Promise<string> {
      const value = await make();
      await values.put(key, value.length, value);
      return value;
    }
    return () => known.get(key) ?? load();
  }

  return {
    base64: (source, recipe) =>
      keep(source, `base64 ${digestOf(formatRecipe(recipe))}`, async () => {
        // A preview keeps still.
        const header = { ...(await measure(parts, source, recipe)), pages: 1 };
        return renderer.run('preview', { source, header, recipe, maxBytes: MAX_INLINE_BYTES });
      }),
    traced: (source, recipe, options) =>
      keep(
        source,
        `traced ${digestOf(`${formatRecipe(recipe)} ${hash('sha256', JSON.stringify(options))}`)}`,
        async () => {
          const header = await measure(parts, source, recipe);
          const maxBytes = MAX_INLINE_BYTES;
          return toDataUri(await renderer.run('trace', { source, header, recipe, options, maxBytes }));
        },
      ),
  };
}
