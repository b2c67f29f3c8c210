import { hash } from 'node:crypto';
import { singleFlight } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import type { InlineImageReader, InlineImages } from '../plan/links.js';
import type { Box } from '../plan/sizes.js';
import { formatTransform, type ImageTransform, toImageDigest } from '../plan/transform.js';
import type { Renderer } from '../render/renderer.js';
import type { ImageDimensions, ImageMetadata, ImageSource } from '../source.js';
import { ignoreStorageFault, type ImageDatabase, type Quota } from './database.js';

export interface MetadataStore {
  /** Returns the stored metadata, without reading the file. */
  find(contentDigest: string): ImageMetadata | undefined;
  /**
   * Reads the header of a file, unless the metadata of this content is stored. Concurrent calls share one read.
   *
   * @throws AppError `unprocessable` when the file is not an image or has too many pixels;
   * `not_found` or `conflict` when it was deleted or changed after the last scan.
   */
  read(source: ImageSource): Promise<ImageMetadata>;
}

/** Enough to keep the rendering processes busy. */
const MAX_READS = 4;

/** About 200 bytes each. */
const MAX_KNOWN = 50_000;

/** Remembered errors of unreadable files, about 300 bytes each. */
const MAX_FAILED = 5_000;

/** After this time, a header that may have timed out on a busy machine is read again. */
const FAILED_MS = 10 * 60_000;

export function createMetadataStore(database: ImageDatabase, renderer: Pick<Renderer, 'run'>): MetadataStore {
  const known = new LRUCache<string, ImageMetadata>({ max: MAX_KNOWN });
  const failed = new LRUCache<string, AppError>({ max: MAX_FAILED, ttl: FAILED_MS });
  const select = database.prepare('SELECT value FROM metadata WHERE picture = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO metadata VALUES (?, ?)');
  const once = singleFlight<ImageMetadata>();

  function find(contentDigest: string): ImageMetadata | undefined {
    return known.get(contentDigest) ?? load(contentDigest);
  }

  function load(contentDigest: string): ImageMetadata | undefined {
    const row = select.get(contentDigest) as { value: string } | undefined;
    if (row === undefined) return undefined;
    const metadata = JSON.parse(row.value) as ImageMetadata;
    known.set(contentDigest, metadata);
    return metadata;
  }

  async function readOnce(source: ImageSource): Promise<ImageMetadata> {
    const metadata = await renderer.run('header', { source });
    try {
      insert.run(source.contentDigest, JSON.stringify(metadata));
    } catch (error) {
      ignoreStorageFault(error);
    }
    known.set(source.contentDigest, metadata);
    return metadata;
  }

  return {
    find,
    async read(source) {
      const found = find(source.contentDigest);
      if (found) return found;
      // The path is part of the key, as the error message names the file and copies have different paths.
      const key = `${source.contentDigest} ${source.relativePath}`;
      const failure = failed.get(key);
      if (failure) throw failure;
      return once(key, () => readOnce(source)).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'unprocessable') failed.set(key, error);
        throw error;
      });
    },
  };
}

/** Reads all headers that are not stored yet. Unreadable files are skipped. */
export async function readMissingMetadata(
  store: MetadataStore,
  sources: Iterable<ImageSource>,
  signal?: AbortSignal,
): Promise<void> {
  const rest = sources[Symbol.iterator]();
  async function readRemaining(): Promise<void> {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      signal?.throwIfAborted();
      await store.read(next.value).catch(rethrowUnexpected);
    }
  }
  await Promise.all(Array.from({ length: MAX_READS }, readRemaining));
}

function rethrowUnexpected(error: unknown): void {
  if (!(error instanceof AppError)) throw error;
}

/** The boxes of images within their borders. Measuring one decodes the whole image, so the results are stored. */
interface TrimStore {
  /** Returns the box in the pixels as stored in the file. */
  measure(source: ImageSource, metadata: ImageMetadata, amount: number): Promise<Box>;
}

export function createTrimStore(values: Quota, renderer: Renderer): TrimStore {
  const once = singleFlight<Box>();
  return {
    async measure(source, header, amount) {
      const key = `${source.contentDigest} trim ${amount}`;
      const found = values.find(key);
      if (found !== undefined) return JSON.parse(found) as Box;
      return once(key, async () => {
        const box = await renderer.run('trim', { source, header, amount });
        const text = JSON.stringify(box);
        await values.put(key, text.length, text).catch(ignoreStorageFault);
        return box;
      });
    },
  };
}

/** The services that rendering an image needs. */
export interface RenderContext {
  readonly renderer: Renderer;
  readonly metadata: MetadataStore;
  readonly trims: TrimStore;
}

/** Reads the header, and measures the borders if the transform trims them. */
export async function measureImage(
  { metadata, trims }: RenderContext,
  source: ImageSource,
  { trim }: ImageTransform,
): Promise<ImageDimensions> {
  const header = await metadata.read(source);
  return trim === undefined ? header : { ...header, trimmed: await trims.measure(source, header, trim) };
}

interface InlineDependencies extends RenderContext {
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
