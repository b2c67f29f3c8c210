import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { CallCounts } from '@trellis/core/concurrency';
import type { SharedFiles } from '@trellis/core/storage';
import { LRUCache } from 'lru-cache';
import { loadSharp } from './plan/arguments.js';
import {
  createResultCache,
  type FieldArguments,
  type FieldName,
  type FieldResult,
  parseOperations,
  type ResultCache,
  toFieldResult,
  trimmedSize,
  untrimmedSize,
} from './plan/field-results.js';
import {
  createLinks,
  type DerivedImage,
  type ImageFieldDependencies,
  type OriginalImage,
  parseOriginalName,
  toOriginal,
} from './plan/links.js';
import type { Size } from './plan/sizes.js';
import type { Operations } from './plan/transform.js';
import { openRenderer, type OpenSource, type RendererOptions, withOpenSources } from './render/renderer.js';
import type { ImageMetadata, ImageSource } from './source.js';
import {
  buildImages,
  type BuildOptions,
  type BuildProgress,
  preparePreviews,
  type PreparePreviewsOptions,
  pruneImages,
  type PruneOptions,
  type PruneResult,
  watchIdle,
} from './store/build-and-prune.js';
import { openImageDatabase, openQuota, type Quota } from './store/database.js';
import {
  createFileEvictor,
  createFileGenerator,
  createImageFiles,
  type FileStore,
  type FindSource,
  type GenerateFile,
  type ImageFiles,
  openFileStore,
  recordExistingFiles,
  sourceRemovedError,
  type StoredFile,
} from './store/files.js';
import {
  createInlineImages,
  createMetadataStore,
  createTrimStore,
  type MetadataStore,
  readMissingMetadata,
} from './store/metadata.js';

/**
 * The images of a site: the values of image fields, and the files behind their links. The fields throw an AppError:
 * `invalid_input` names the argument, `unprocessable` the file.
 */
export interface Images {
  /** Returns synchronously when the header is already known. */
  original(source: ImageSource): OriginalImage | Promise<OriginalImage>;
  /**
   * Returns the value of a field, synchronously when it is cached. Reads no pixels, except to measure a trim for the
   * first time.
   */
  answer<Field extends FieldName>(
    field: Field,
    source: ImageSource,
    args: FieldArguments[Field],
  ): FieldResult<Field> | Promise<FieldResult<Field>>;
  /**
   * Returns the values that filters and sorts need, or `undefined` when the header has not been read. The links in them
   * are neither reported to `onLink` nor signed with an expiry.
   */
  peek(field: FieldName | 'original', source: ImageSource): object | undefined;
  /**
   * Returns the image for the path of a link below `/static`, or `undefined` unless a server with the same link key issued
   * the link.
   *
   * @throws AppError `not_found` when the source image is no longer in the site.
   */
  findRoute(path: string): ImageTarget | undefined;
  /** Returns the file that `original` links to, given the path below `/static`, or `undefined` for any other path. */
  parseOriginal(path: string): { readonly contentDigest: string; readonly base: string } | undefined;
  readonly metadata: MetadataStore;
  readonly files: ImageFiles;
  /** The quota of the files in `public` of the state folder: derived images and public copies. */
  readonly quota: Quota;
  /** The derived images and public copies. */
  readonly store: FileStore;
  readonly generateFile: GenerateFile;
  /** Returns the image that a path below `/static` links to, or `undefined` unless this site issued the link. */
  parseLink(path: string): DerivedImage | undefined;
  /** Generates images ahead of the first GET of their links. */
  build(links: Iterable<DerivedImage>, options?: BuildOptions): Promise<BuildProgress>;
  /** Removes the derived images that no stored query uses. */
  prune(options: PruneOptions): Promise<PruneResult>;
  /**
   * Renders the `base64` of images ahead of queries, with a low priority and while no request needs the image processes.
   * Stops when more of them would evict stored ones.
   */
  preparePreviews(sources: Iterable<ImageSource>, options: PreparePreviewsOptions): Promise<void>;
  /** Reads all missing headers, so that filters can use image sizes. Unreadable images are skipped. */
  readMissingMetadata(sources: Iterable<ImageSource>, signal?: AbortSignal): Promise<void>;
  /** Returns how many rendering jobs run, and how many wait. */
  countJobs(): CallCounts;
  close(): Promise<void>;
}

/** Signs links to files below `/static` with an expiry. */
interface LinkSigner {
  sign(path: string): string;
  /** Identifies the period in which links get the same signature. */
  currentWindow(): number;
}

/** The target of an image link, whether its file exists or not. */
export interface ImageTarget {
  /** The path below the image folder, with `/`. */
  readonly path: string;
  /** Returns the file; `undefined` if it is missing or damaged. */
  find(): Promise<StoredFile | undefined>;
  /** Generates the file unless it exists. */
  generate(): Promise<StoredFile>;
  /** Records for the quota that the image was served. */
  touch(): void;
}

/** A route of the cache. */
interface ImageRoute extends ImageTarget {
  readonly image: DerivedImage;
}

export interface ImagesOptions {
  /** Receives `images.db`, and the derived images in `public/images`. */
  readonly stateDirectory: string;
  readonly findSource: FindSource;
  /** The path that the site is served under, such as `/garden`. */
  readonly prefix?: string;
  /** Called with the path of each damaged file, below the state folder, which is then made again. */
  readonly onDamage?: (name: string) => void;
  /** Called for every derived image that a field result links to. */
  readonly onLink?: (image: DerivedImage) => void;
  /** Signs the transforms in links. Random by default, for processes that publish no links. */
  readonly linkKey?: Uint8Array;
  /** Limits how long links are valid; absent for a public site, whose links do not expire. */
  readonly signer?: LinkSigner;
  /** The disk space for derived images, public copies and inline images together. */
  readonly quotaBytes?: number;
  /** Derived images that several servers share. */
  readonly sharedFiles?: SharedFiles;
  /** Returns a source whose path this machine can read; absent if it can read all of them. */
  readonly openSource?: OpenSource;
  /** The number of cores that rendering may use, and the limit of drawings. */
  readonly renderer?: RendererOptions;
}

/** Enough for the images of about 3,000 pages; 2 GB is the smallest disk that hosting providers offer. */
const DEFAULT_QUOTA_BYTES = 2 * 10 ** 9;

/**
 * The share of inline images. They are rows of `images.db`, which does not shrink, so the space they once took can't be
 * given to files.
 */
const INLINE_SHARE = 1 / 4;

/**
 * The size limit of one derived image, a thirtieth of the default quota. A photograph of 100 megapixels fits as a JPEG;
 * only uncompressed images are larger.
 */
const MAX_FILE_BYTES = 64 * 2 ** 20;

/** The name of the database in the state folder. */
const DATABASE = 'images.db';

/** Stands for a stored preview, which is not read to find out that it exists. */
const STORED = ' ';

/** No preview is as short, so none is kept in memory before a query reads it. */
const MAX_AHEAD = 50;

/** The cache of parsed links, about 500 bytes each, spares the digests when a file is served again. */
const MAX_ROUTES = 20_000;

export function openImages(options: ImagesOptions): Images {
  const { stateDirectory, findSource, prefix = '', signer, onLink, linkKey = randomBytes(32) } = options;
  const { quotaBytes = DEFAULT_QUOTA_BYTES, renderer: rendering, onDamage, sharedFiles } = options;
  // An installation without sharp's binary is reported here rather than by the first image.
  loadSharp();
  // The other databases in this folder must not be readable by other users of the machine either.
  mkdirSync(stateDirectory, { recursive: true, mode: 0o700 });
  const database = openImageDatabase(path.join(stateDirectory, DATABASE), () => onDamage?.(DATABASE));
  const [inlineBytes, fileBytes] = [quotaBytes * INLINE_SHARE, quotaBytes * (1 - INLINE_SHARE)];
  const values = openQuota(database, { share: 'values', maxBytes: inlineBytes });
  const quota = openQuota(database, {
    share: 'files',
    maxBytes: fileBytes,
    onEvict: createFileEvictor(stateDirectory),
  });
  const renderer = watchIdle(withOpenSources(openRenderer(rendering), options.openSource));
  // It starts its processes when it is used.
  const background = openRenderer({ ...rendering, isBackground: true });
  const metadata = createMetadataStore(database, renderer);
  const links = createLinks(linkKey);
  const store = openFileStore(stateDirectory, quota, {
    onDamage: (name) => onDamage?.(path.posix.join('public', name)),
    shared: sharedFiles,
  });
  const files = createImageFiles(store);
  const trims = createTrimStore(values, renderer);
  const inline = createInlineImages({ values, renderer, metadata, trims });
  const ahead = createInlineImages({
    renderer: withOpenSources(background, options.openSource),
    metadata,
    trims,
    values: { put: (...entry) => values.put(...entry), find: (key) => (values.has(key) ? STORED : undefined) },
    maxKnownCharacters: MAX_AHEAD,
  });
  const findResults = createResultCaches(signer);
  const linked = new WeakMap<object, DerivedImage[]>();
  const routes = new LRUCache<string, ImageRoute>({ max: MAX_ROUTES });
  const closing = new AbortController();
  const adopted = database.isNew ? recordExistingFiles(stateDirectory, quota, closing.signal) : Promise.resolve();
  database.onReplaced(() => {
    recordExistingFiles(stateDirectory, quota, closing.signal).catch(() => undefined);
  });
  // An unreadable folder has no files to serve, so its missing entries do no harm.
  adopted.catch(() => undefined);
  const cleaned = store.removePartial().catch(() => undefined);

  const toPath = (below: string): string => `${prefix}/static${below}`;
  const toUrl = (below: string): string => toPath(signer ? signer.sign(below) : below);

  /** @param images Receives the linked images. Without it, links are not reported and carry no expiry. */
  const createFieldDependencies = (images?: DerivedImage[]): ImageFieldDependencies => ({
    inline,
    link(image) {
      images?.push(image);
      if (images) onLink?.(image);
      return images ? toUrl(links.format(image)) : toPath(links.format(image));
    },
  });

  async function findSize(source: ImageSource, header: ImageMetadata, operations: Operations): Promise<Size> {
    if (operations.trim === undefined) return untrimmedSize(header, operations);
    return trimmedSize(await trims.measure(source, header, operations.trim), header, operations);
  }

  async function computeResult<Field extends FieldName>(
    field: Field,
    source: ImageSource,
    args: FieldArguments[Field],
  ): Promise<FieldResult<Field>> {
    const operations = parseOperations(field, args);
    const results = findResults();
    const header = await metadata.read(source);
    const size = await findSize(source, header, operations);
    const images: DerivedImage[] = [];
    const result = toFieldResult(field, createFieldDependencies(images), {
      ...{ source, size, operations, args },
      isAnimated: isAnimatedWebp(header),
    });
    linked.set(result, images);
    results.keep(field, source, args, result);
    return result;
  }

  const maxBytes = Math.min(MAX_FILE_BYTES, fileBytes);
  const makeFile = createFileGenerator({ renderer, metadata, trims, files, findSource, maxBytes });

  function findNewRoute(url: string): ImageRoute | undefined {
    const image = links.parse(url);
    if (image === undefined) return undefined;
    const file = files.toPath(image);
    const route = {
      image,
      path: file,
      find: () => files.find(file),
      generate: async () => (await makeFile(image)).file,
      touch: () => files.touch(file),
    };
    routes.set(url, route);
    return route;
  }

  /** The source is required even if the file exists, so that all servers give the same response. */
  function findRoute(url: string): ImageTarget | undefined {
    const route = routes.get(url) ?? findNewRoute(url);
    if (route && !findSource(route.image.contentDigest)) throw sourceRemovedError();
    return route;
  }

  return {
    metadata,
    files,
    quota,
    store,
    generateFile: makeFile,
    parseLink: (url) => links.parse(url),
    findRoute,
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
      return known ?? computeResult(field, source, args);
    },
    peek(field, source) {
      const header = metadata.find(source.contentDigest);
      if (!header) return undefined;
      if (field === 'original') return toOriginal(source, header, toPath);
      const operations = parseOperations(field, {});
      const size = untrimmedSize(header, operations);
      const request = { source, size, operations, args: {}, isAnimated: isAnimatedWebp(header) };
      return toPlain(toFieldResult(field, createFieldDependencies(), request));
    },
    build: (requested, options) => buildImages(makeFile, unique(requested, files), options),
    prune: (options) => pruneImages(files, options),
    preparePreviews: (sources, preparation) =>
      preparePreviews(
        {
          async render(field, source) {
            const args = {};
            const operations = parseOperations(field, args);
            const size = await findSize(source, await metadata.read(source), operations);
            const parts = { ...createFieldDependencies(), inline: ahead };
            return (await toFieldResult(field, parts, { source, size, operations, args }).base64()) !== STORED;
          },
          untilIdle: () => renderer.untilIdle(),
          isFull: () => values.usedBytes() > inlineBytes / 2,
        },
        sources,
        preparation,
      ),
    readMissingMetadata: (sources, signal) => readMissingMetadata(metadata, sources, signal),
    countJobs: () => renderer.count(),
    async close() {
      closing.abort();
      renderer.close();
      background.close();
      await adopted.catch(() => undefined);
      await cleaned;
      values.close();
      quota.close();
      database.close();
    },
  };
}

/** Frames can't be turned by an EXIF orientation. */
const isAnimatedWebp = ({ format, pages, orientation }: ImageMetadata): boolean =>
  format === 'webp' && pages > 1 && orientation === 1;

/** Returns the current cache. A new one replaces it when the signer's period ends, as its links expire. */
function createResultCaches(signer: LinkSigner | undefined): () => ResultCache {
  let results = createResultCache();
  let window = signer?.currentWindow();
  return () => {
    const current = signer?.currentWindow();
    if (current !== window) [results, window] = [createResultCache(), current];
    return results;
  };
}

/** Returns each image once, ordered by source, so that the disk cache serves repeated reads of a source. */
function unique(images: Iterable<DerivedImage>, files: ImageFiles): DerivedImage[] {
  const byPath = new Map([...images].map((image) => [files.toPath(image), image]));
  return [...byPath.values()].sort((one, other) => (one.contentDigest < other.contentDigest ? -1 : 1));
}

/** Returns the members of a result that need no pixels, as plain values. */
function toPlain(result: FieldResult<FieldName>): object {
  const plain = Object.entries(result).filter(([, value]) => typeof value !== 'function');
  const src = typeof result.src === 'string' ? result.src : result.src();
  const webp = 'srcWebp' in result ? { srcWebp: result.srcWebp(), srcSetWebp: result.srcSetWebp() } : {};
  return { ...Object.fromEntries(plain), src, ...webp };
}
