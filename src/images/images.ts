import { mkdirSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { LRUCache } from 'lru-cache';
import { sizeAfterTrim, sizeBeforeTrim, toCheckedOperations, toResult } from './answers.js';
import type { FieldArguments, FieldName, FieldResult } from './answers.js';
import { buildImages } from './build-images.js';
import type { BuildOptions, BuildProgress } from './build-images.js';
import type { DraftParts } from './draft.js';
import { pruneImages } from './prune-images.js';
import type { PruneOptions, PruneResult } from './prune-images.js';
import { openImageDatabase } from './image-database.js';
import { adoptFiles, createImageFiles, evictFrom } from './image-files.js';
import type { ImageFiles } from './image-files.js';
import { createInlineImages } from './inline-images.js';
import { createLinks } from './links.js';
import type { DerivedImage } from './links.js';
import { createMakeFile } from './make-images.js';
import type { FindSource, MakeFile } from './make-images.js';
import { createMetadataStore, learnAll } from './metadata.js';
import type { ImageMetadata, MetadataStore } from './metadata.js';
import { parseOriginalName, toOriginal } from './original.js';
import type { OriginalImage } from './original.js';
import { openQuota } from './quota.js';
import type { Quota } from './quota.js';
import { openRenderer } from './render/renderer.js';
import { createResultCache } from './result-cache.js';
import type { ResultCache } from './result-cache.js';
import type { Operations } from './recipe.js';
import type { Size } from './sizes.js';
import type { ImageSource } from './source.js';
import { createTrimStore } from './trims.js';

/**
 * What the image fields of the site's data answer. Each throws an AppError:
 * `invalid_input` that names an argument, `unprocessable` that names a file.
 */
export interface Images {
  /** At once where the header is known. */
  original(source: ImageSource): OriginalImage | Promise<OriginalImage>;
  /** Reads no pixel, unless it is to measure a trim for the first time; at once where all is known. */
  answer<Field extends FieldName>(
    field: Field,
    source: ImageSource,
    args: FieldArguments[Field],
  ): FieldResult<Field> | Promise<FieldResult<Field>>;
  /** Returns the values that filters and sorts need, `undefined` unless the header was read before. Links are neither stored nor signed. */
  peek(field: FieldName | 'original', source: ImageSource): object | undefined;
  /** By the path below `/static` of a link; `undefined` for one that is no link to an image. */
  findRoute(path: string): ImageRoute | undefined;
  /** The file that `original` links to, by the path below `/static`; `undefined` for a path of another form. */
  parseOriginal(path: string): { readonly contentDigest: string; readonly base: string } | undefined;
  readonly metadata: MetadataStore;
  readonly files: ImageFiles;
  /** What files below the state folder's `public` may take; counts derived images and public copies. */
  readonly quota: Quota;
  readonly makeFile: MakeFile;
  /** The image that a path below `/static` links to; `undefined` unless this site issued the link. */
  parseLink(path: string): DerivedImage | undefined;
  /** Makes images ahead of the first GET of their links. */
  build(links: Iterable<DerivedImage>, options?: BuildOptions): Promise<BuildProgress>;
  /** Removes the images that nothing asks for. */
  prune(options: PruneOptions): Promise<PruneResult>;
  /** Reads the headers that are not known yet, so that filters on sizes find them; unreadable ones stay unknown. */
  learn(sources: Iterable<ImageSource>, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Signs links to files below `/static`. */
interface LinkSigner {
  sign(path: string): string;
  /** Changes when the signatures of links change. */
  currentWindow(): number;
}

/** An image that a link leads to, made or not. */
export interface ImageRoute {
  /** Below the folder of images, with `/`. */
  readonly path: string;
  make(): Promise<void>;
  /** Notes that the image was served, for the quota. */
  touch(): void;
}

export interface ImagesOptions {
  /** `images.db` is made in it, and the images below `public/images`. */
  readonly stateDirectory: string;
  readonly findSource: FindSource;
  /** Of links: the path that the site is served below, such as `/garden`. */
  readonly prefix?: string;
  /** Receives every image that an answer links to. */
  readonly onLink?: ((image: DerivedImage) => void) | undefined;
  /** Signs the recipes in links. The default is random: for processes that publish no links. */
  readonly linkKey?: Uint8Array | undefined;
  /** Limits how long links are valid; absent for a public site, whose links do not expire. */
  readonly signer?: LinkSigner | undefined;
  /** What derived images, public copies and inline images may take on the disk together. */
  readonly quotaBytes?: number | undefined;
}

/** Some 3,000 pages with pictures; 2 GB is the smallest disk that hosts offer. */
const DEFAULT_QUOTA_BYTES = 2 * 10 ** 9;

/**
 * The share of inline images: rows of `images.db`, a file that does not
 * shrink, so that what it once took is not free for files.
 */
const INLINE_SHARE = 1 / 4;

/**
 * The most bytes of one derived image, a thirtieth of the default quota: a
 * photograph of 100 megapixels as JPEG. More is an image that nobody compressed.
 */
const MAX_FILE_BYTES = 64 * 2 ** 20;

/** Parsed links, some 500 bytes each, so that serving a file computes no digest. */
const MAX_ROUTES = 20_000;

export function openImages(options: ImagesOptions): Images {
  const { stateDirectory, findSource, prefix = '', signer, onLink, linkKey = randomBytes(32) } = options;
  const { quotaBytes = DEFAULT_QUOTA_BYTES } = options;
  // The databases beside it are nobody else's business either.
  mkdirSync(stateDirectory, { recursive: true, mode: 0o700 });
  const database = openImageDatabase(path.join(stateDirectory, 'images.db'));
  const [inlineBytes, fileBytes] = [quotaBytes * INLINE_SHARE, quotaBytes * (1 - INLINE_SHARE)];
  const values = openQuota(database, { share: 'values', maxBytes: inlineBytes });
  const quota = openQuota(database, { share: 'files', maxBytes: fileBytes, onEvict: evictFrom(stateDirectory) });
  const renderer = openRenderer();
  const metadata = createMetadataStore(database, renderer);
  const links = createLinks(linkKey);
  const files = createImageFiles(stateDirectory, quota);
  const trims = createTrimStore(values, renderer);
  const inline = createInlineImages({ values, renderer, metadata, trims });
  const findResults = createResultCaches(signer);
  const linked = new WeakMap<object, DerivedImage[]>();
  const routes = new LRUCache<string, ImageRoute>({ max: MAX_ROUTES });
  const closing = new AbortController();
  const adopted = database.isNew ? adoptFiles(stateDirectory, quota, closing.signal) : Promise.resolve();
  // A folder that cannot be read has no files to serve either.
  adopted.catch(() => undefined);

  const toPath = (below: string): string => `${prefix}/static${below}`;
  const toUrl = (below: string): string => toPath(signer ? signer.sign(below) : below);

  /** @param images Receives those that are linked to; without it, links are not signed. */
  const partsOf = (images?: DerivedImage[]): DraftParts => ({
    inline,
    link(image) {
      images?.push(image);
      if (images) onLink?.(image);
      return images ? toUrl(links.format(image)) : toPath(links.format(image));
    },
  });

  async function findSize(source: ImageSource, header: ImageMetadata, operations: Operations): Promise<Size> {
    if (operations.trim === undefined) return sizeBeforeTrim(header, operations);
    return sizeAfterTrim(await trims.measure(source, header, operations.trim), header, operations);
  }

  async function answerNew<Field extends FieldName>(
    field: Field,
    source: ImageSource,
    args: FieldArguments[Field],
  ): Promise<FieldResult<Field>> {
    const operations = toCheckedOperations(field, args);
    const results = findResults();
    const header = await metadata.read(source);
    const size = await findSize(source, header, operations);
    const images: DerivedImage[] = [];
    const result = toResult(field, partsOf(images), { source, size, operations, args });
    linked.set(result, images);
    results.keep(field, source, args, result);
    return result;
  }

  const maxBytes = Math.min(MAX_FILE_BYTES, fileBytes);
  const makeFile = createMakeFile({ renderer, metadata, trims, files, findSource, maxBytes });

  function findNewRoute(url: string): ImageRoute | undefined {
    const image = links.parse(url);
    if (image === undefined) return undefined;
    const file = files.pathOf(image);
    const make = async (): Promise<void> => {
      await makeFile(image);
    };
    const route = { path: file, make, touch: () => files.touch(file) };
    routes.set(url, route);
    return route;
  }

  return {
    metadata,
    files,
    quota,
    makeFile,
    parseLink: (url) => links.parse(url),
    findRoute: (url) => routes.get(url) ?? findNewRoute(url),
    parseOriginal(url) {
      const parts = parseOriginalName(url.slice(1));
      return parts && { contentDigest: parts.contentDigest, base: `${parts.name}${parts.ext}` };
    },
    original(source) {
      const known = metadata.find(source.contentDigest);
      if (known) return toOriginal(source, known, toUrl);
      return metadata.read(source).then((header) => toOriginal(source, header, toUrl));
    },
    answer<Field extends FieldName>(field: Field, source: ImageSource, args: FieldArguments[Field]) {
      const known = findResults().find(field, source, args);
      if (known && onLink) for (const image of linked.get(known) ?? []) onLink(image);
      return known ?? answerNew(field, source, args);
    },
    peek(field, source) {
      const header = metadata.find(source.contentDigest);
      if (!header) return undefined;
      if (field === 'original') return toOriginal(source, header, toPath);
      const operations = toCheckedOperations(field, {});
      const size = sizeBeforeTrim(header, operations);
      return toPlain(toResult(field, partsOf(), { source, size, operations, args: {} }));
    },
    build: (asked, options) => buildImages(makeFile, unique(asked, files), options),
    prune: (options) => pruneImages(files, options),
    learn: (sources, signal) => learnAll(metadata, sources, signal),
    async close() {
      closing.abort();
      renderer.close();
      await adopted.catch(() => undefined);
      values.close();
      quota.close();
      database.close();
    },
  };
}

/** Signed links expire, so the results that hold them are dropped when the signer's window ends. */
function createResultCaches(signer: LinkSigner | undefined): () => ResultCache {
  let results = createResultCache();
  let window = signer?.currentWindow();
  return () => {
    const current = signer?.currentWindow();
    if (current !== window) [results, window] = [createResultCache(), current];
    return results;
  };
}

/** In the order of sources, so that one is read from the disk once. */
function unique(images: Iterable<DerivedImage>, files: ImageFiles): DerivedImage[] {
  const byPath = new Map([...images].map((image) => [files.pathOf(image), image]));
  return [...byPath.values()].sort((one, other) => (one.contentDigest < other.contentDigest ? -1 : 1));
}

/** What a result says without making pixels. */
function toPlain(result: FieldResult<FieldName>): object {
  const said = Object.entries(result).filter(([, value]) => typeof value !== 'function');
  const src = typeof result.src === 'string' ? result.src : result.src();
  const webp = 'srcWebp' in result ? { srcWebp: result.srcWebp(), srcSetWebp: result.srcSetWebp() } : {};
  return { ...Object.fromEntries(said), src, ...webp };
}
