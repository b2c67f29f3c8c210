import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.js';
import type { ImageDatabase } from './image-database.js';
import { onceAtATime } from '../in-turn.js';
import type { Renderer } from './render/renderer.js';
import type { SourceFormat } from './signature.js';
import type { ImageSource } from './source.js';

/** What the header of a picture says. */
export interface ImageMetadata {
  /** By the bytes, whatever the file is called. */
  readonly format: SourceFormat;
  /** In pixels, as the picture is shown: turned as its EXIF orientation says. */
  readonly width: number;
  readonly height: number;
  /** 1 to 8 as in EXIF; from 5 on, the sides in the file are the other way round. */
  readonly orientation: number;
  /** How many frames an animation has; 1 for all else. */
  readonly pages: number;
  readonly hasAlpha: boolean;
}

export interface MetadataStore {
  /** What is known already, without reading the file. */
  find(contentDigest: string): ImageMetadata | undefined;
  /**
   * Reads the header, once for all who ask, and never again for these bytes.
   *
   * @throws AppError `unprocessable` when the file holds no picture, or one of
   * more pixels than are read; `not_found` or `conflict` when it is not as indexed.
   */
  read(source: ImageSource): Promise<ImageMetadata>;
}

/** Enough to keep the rendering processes busy; the order of the others stays that of the caller. */
const MAX_READS = 4;

/** Some 200 bytes each. */
const MAX_KNOWN = 50_000;

/** Errors of files that cannot be read, some 300 bytes each. */
const MAX_REFUSED = 5_000;

/** A header that took too long on a busy machine gets another try. */
const REFUSED_MS = 10 * 60_000;

export function createMetadataStore(database: ImageDatabase, renderer: Pick<Renderer, 'run'>): MetadataStore {
  const known = new LRUCache<string, ImageMetadata>({ max: MAX_KNOWN });
  const refused = new LRUCache<string, AppError>({ max: MAX_REFUSED, ttl: REFUSED_MS });
  const select = database.prepare('SELECT value FROM metadata WHERE picture = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO metadata VALUES (?, ?)');
  const once = onceAtATime<ImageMetadata>();

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
    insert.run(source.contentDigest, JSON.stringify(metadata));
    known.set(source.contentDigest, metadata);
    return metadata;
  }

  return {
    find,
    async read(source) {
      const found = find(source.contentDigest);
      if (found) return found;
      // Twins have other names, and the refusal tells one.
      const key = `${source.contentDigest} ${source.relativePath}`;
      const refusal = refused.get(key);
      if (refusal) throw refusal;
      return once(key, () => readOnce(source)).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'unprocessable') refused.set(key, error);
        throw error;
      });
    },
  };
}

/** Reads all headers that are not known yet; those that can't be read stay unknown. */
export async function learnAll(
  store: MetadataStore,
  sources: Iterable<ImageSource>,
  signal?: AbortSignal,
): Promise<void> {
  const rest = sources[Symbol.iterator]();
  async function learnNext(): Promise<void> {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      signal?.throwIfAborted();
      await store.read(next.value).catch(passDefect);
    }
  }
  await Promise.all(Array.from({ length: MAX_READS }, learnNext));
}

function passDefect(error: unknown): void {
  if (!(error instanceof AppError)) throw error;
}
