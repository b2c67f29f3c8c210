import { hash } from 'node:crypto';
import { singleFlight } from '@trellis/core/concurrency';
import { LRUCache } from 'lru-cache';
import type { InlineImageReader, InlineImages } from '../plan/image-request.js';
import { formatTransform, toImageDigest } from '../plan/transform.js';
import type { ImageSource } from '../source.js';
import { ignoreStorageFault, type Quota } from './database.js';
import { measureImage, type RenderContext } from './metadata.js';

export interface InlineDependencies extends RenderContext {
  /** Stores the data URIs. */
  readonly values: Pick<Quota, 'find' | 'put'>;
  /** The size of the memory cache; by default 64 MB. */
  readonly maxKnownCharacters?: number;
}

/** The memory cache holds 64 MB of text: about 50,000 previews. */
const MAX_KNOWN_CHARACTERS = 64 * 1024 * 1024;

/** A page loads larger images faster by link. Twelve of this size as base64 are a response of 16 MB. */
const MAX_INLINE_BYTES = 2 ** 20;

export function createInlineImages(parts: InlineDependencies): InlineImages {
  const { renderer, values, maxKnownCharacters: maxSize = MAX_KNOWN_CHARACTERS } = parts;
  const known = new LRUCache<string, string>({ maxSize, sizeCalculation: (text) => text.length });
  const once = singleFlight<string>();

  function cached({ contentDigest }: ImageSource, name: string, render: () => Promise<string>): InlineImageReader {
    const key = `${contentDigest} ${name}`;
    async function load(): Promise<string> {
      const value = values.find(key) ?? (await once(key, renderAndStore));
      known.set(key, value);
      return value;
    }
    async function renderAndStore(): Promise<string> {
      const value = await render();
      await values.put(key, value.length, value).catch(ignoreStorageFault);
      return value;
    }
    return () => known.get(key) ?? load();
  }

  return {
    base64: (source, recipe) =>
      cached(source, `base64 ${toImageDigest(formatTransform(recipe))}`, async () => {
        // Previews are never animated.
        const header = { ...(await measureImage(parts, source, recipe)), pages: 1 };
        return renderer.run('preview', { source, header, transform: recipe, maxBytes: MAX_INLINE_BYTES });
      }),
    traced: (source, recipe, options) =>
      cached(
        source,
        `traced ${toImageDigest(`${formatTransform(recipe)} ${hash('sha256', JSON.stringify(options))}`)}`,
        async () => {
          const header = await measureImage(parts, source, recipe);
          const maxBytes = MAX_INLINE_BYTES;
          return toDataUri(await renderer.run('trace', { source, header, transform: recipe, options, maxBytes }));
        },
      ),
  };
}

/** Encodes an SVG document as a data URI that is safe in double-quoted attributes and in a `srcset`. */
function toDataUri(svg: string): string {
  const text = svg.trim().replaceAll('"', "'").replace(/\s+/gu, ' ');
  const encoded = encodeURIComponent(text).replace(/%(?:2C|2F|3A|3D)/gu, decodeURIComponent);
  return `data:image/svg+xml,${encoded.replace(/%[0-9A-F]{2}/gu, (escape) => escape.toLowerCase())}`;
}
