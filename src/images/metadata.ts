import { LRUCache } from 'lru-cache';
import type { Metadata } from 'sharp';
import { AppError } from '../errors.js';
import type { ImageDatabase } from './image-database.js';
import { inTurn, onceAtATime } from '../in-turn.js';
import { MAX_PIXELS, openPicture, readFormat } from './open-picture.js';
import type { SourceFormat } from './signature.js';
import { requireUnchanged, unreadable } from './source.js';
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
   * more than {@link MAX_PIXELS}; `not_found` or `conflict` when it is not as indexed.
   */
  read(source: ImageSource): Promise<ImageMetadata>;
}

/** Each holds a descriptor and one of Node's four threads for files. */
const MAX_READS = 4;

/** Some 200 bytes each. */
const MAX_KNOWN = 50_000;

/** Why files can't be read: found anew after a restart, when another version may read them. */
const MAX_REFUSED = 5_000;

export function createMetadataStore(database: ImageDatabase): MetadataStore {
  const known = new LRUCache<string, ImageMetadata>({ max: MAX_KNOWN });
  const refused = new LRUCache<string, AppError>({ max: MAX_REFUSED });
  const select = database.prepare('SELECT value FROM metadata WHERE picture = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO metadata VALUES (?, ?)');
  const turn = inTurn(MAX_READS);
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
    const metadata = await turn(() => readMetadata(source));
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

async function readMetadata(source: ImageSource): Promise<ImageMetadata> {
  await requireUnchanged(source);
  const format = await readFormat(source);
  const picture = await openPicture(source, format, { limitInputPixels: false });
  const header = await picture.metadata().catch((cause: unknown) => {
    throw unreadable(source, 'its header can\u2019t be read', cause);
  });
  await requireUnchanged(source);
  return toMetadata(source, format, header);
}

function toMetadata(source: ImageSource, format: SourceFormat, header: Metadata): ImageMetadata {
  const { autoOrient, orientation = 1, pages = 1, hasAlpha } = header;
  const { width, height } = autoOrient;
  if (!(width >= 1 && height >= 1)) throw unreadable(source, 'its header tells no size');
  if (width * height > MAX_PIXELS) {
    throw unreadable(source, `its ${width} × ${height} pixels are more than ${MAX_PIXELS}`);
  }
  const isAnimated = format === 'gif' || format === 'webp';
  return { format, width, height, orientation, pages: isAnimated ? pages : 1, hasAlpha };
}
