import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { sizeAfterTrim, sizeBeforeTrim, toCheckedOperations, toResult } from './answers.js';
import type { FieldArguments, FieldName, FieldResult } from './answers.js';
import { buildImages } from './build-images.js';
import type { BuildOptions, BuildProgress } from './build-images.js';
import { pruneImages } from './prune-images.js';
import type { PruneOptions, PruneResult } from './prune-images.js';
import type { DraftParts } from './draft.js';
import { openImageDatabase } from './image-database.js';
import { createImageFiles } from './image-files.js';
import type { ImageFiles } from './image-files.js';
import { inTurn } from '../in-turn.js';
import { createInlineImages } from './inline-images.js';
import { createLinkStore } from './link-store.js';
import type { Handout, LinkStore } from './link-store.js';
import { parseLink } from './links.js';
import { createMakeFile } from './make-images.js';
import type { FindSource, MakeFile } from './make-images.js';
import { createMetadataStore, learnAll } from './metadata.js';
import type { ImageMetadata, MetadataStore } from './metadata.js';
import { parseOriginalName, toOriginal } from './original.js';
import type { OriginalImage } from './original.js';
import { digestOf, formatRecipe } from './recipe.js';
import { createResultCache } from './result-cache.js';
import type { Operations } from './recipe.js';
import type { Size } from './sizes.js';
import type { ImageSource } from './source.js';
import { openTracers } from './tracers.js';
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
  /** For filters and sorts: what is known without reading a file, else `undefined`. Hands no link out. */
  peek(field: FieldName | 'original', source: ImageSource): object | undefined;
  /** By the path below `/static` of a link; `undefined` for one that is no link to an image. */
  findRoute(path: string): ImageRoute | undefined;
  /** By the same: the file that `original` links to. */
  findOriginal(path: string): ImageSource | undefined;
  readonly metadata: MetadataStore;
  readonly links: LinkStore;
  readonly files: ImageFiles;
  readonly makeFile: MakeFile;
  /** Makes the images of links ahead of their first GET. */
  build(links: Iterable<Handout>, options?: BuildOptions): Promise<BuildProgress>;
  /** Removes the images that nothing asks for. */
  prune(options: PruneOptions): Promise<PruneResult>;
  /** Reads the headers that are not known yet, so that filters on sizes find them; unreadable ones stay unknown. */
  learn(sources: Iterable<ImageSource>, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** An image that a link leads to, made or not. */
export interface ImageRoute {
  /** Below the folder of images, with `/`. */
  readonly path: string;
  make(): Promise<void>;
}

export interface ImagesOptions {
  /** `images.db` is made in it, and the images below `public/images`. */
  readonly stateDirectory: string;
  readonly findSource: FindSource;
  /** Of links: the path that the site is served below, such as `/garden`. */
  readonly prefix?: string;
  /** Told of every link in every answer. */
  readonly onHandOut?: ((link: Handout) => void) | undefined;
}

/**
 * Images made at the same time, of the four threads that Node has for such
 * work: the last one is left for reading files.
 */
const MAX_PARALLEL = 3;

/** Where the images of a state folder are. */
export const imageFolderOf = (stateDirectory: string): string => path.join(stateDirectory, 'public', 'images');

export function openImages({ stateDirectory, findSource, prefix = '', onHandOut }: ImagesOptions): Images {
  configureSharp();
  // The databases beside it are nobody else's business either.
  mkdirSync(stateDirectory, { recursive: true, mode: 0o700 });
  const database = openImageDatabase(path.join(stateDirectory, 'images.db'));
  const pool = inTurn(Math.min(availableParallelism(), MAX_PARALLEL));
  const metadata = createMetadataStore(database);
  const links = createLinkStore(database);
  const files = createImageFiles(imageFolderOf(stateDirectory));
  const trims = createTrimStore(database, pool);
  const tracers = openTracers();
  const inline = createInlineImages({ database, pool, metadata, trims, tracers });
  const results = createResultCache();
  const handedOut = new WeakMap<object, readonly Handout[]>();

  const quiet: DraftParts = {
    inline,
    prefix,
    handOut: (_picture, recipe) => digestOf(formatRecipe(recipe)),
    whenSaved: (value) => value,
  };

  function partsOf(noted: Handout[]): DraftParts {
    return {
      inline,
      prefix,
      handOut(contentDigest, recipe) {
        const link = { contentDigest, recipeDigest: links.handOut(contentDigest, recipe) };
        noted.push(link);
        onHandOut?.(link);
        return link.recipeDigest;
      },
      whenSaved: async (value) => {
        await links.saved();
        return value;
      },
    };
  }

  function findSize({ contentDigest }: ImageSource, header: ImageMetadata, operations: Operations): Size | undefined {
    if (operations.trim === undefined) return sizeBeforeTrim(header, operations);
    const trimmed = trims.find(contentDigest, operations.trim);
    return trimmed && sizeAfterTrim(trimmed, header, operations);
  }

  async function answerNew<Field extends FieldName>(
    field: Field,
    source: ImageSource,
    args: FieldArguments[Field],
  ): Promise<FieldResult<Field>> {
    const operations = toCheckedOperations(field, args);
    const header = await metadata.read(source);
    if (operations.trim !== undefined) await trims.measure(source, header, operations.trim);
    const size = findSize(source, header, operations) ?? header;
    const noted: Handout[] = [];
    const result = toResult(field, partsOf(noted), { source, size, operations, args });
    handedOut.set(result, noted);
    await links.saved();
    results.keep(field, source, args, result);
    return result;
  }

  const makeFile = createMakeFile({ pool, metadata, trims, files, links, findSource });

  return {
    metadata,
    links,
    files,
    makeFile,
    findRoute(url) {
      const link = parseLink(url);
      if (link === undefined) return undefined;
      const make = async (): Promise<void> => {
        await makeFile(link);
      };
      return { path: files.pathOf(link), make };
    },
    findOriginal(url) {
      const parts = parseOriginalName(url.slice(1));
      return parts && findSource(parts.contentDigest, `${parts.name}${parts.ext}`);
    },
    original(source) {
      const known = metadata.find(source.contentDigest);
      if (known) return toOriginal(source, known, prefix);
      return metadata.read(source).then((header) => toOriginal(source, header, prefix));
    },
    answer<Field extends FieldName>(field: Field, source: ImageSource, args: FieldArguments[Field]) {
      const known = results.find(field, source, args);
      if (known && onHandOut) for (const link of handedOut.get(known) ?? []) onHandOut(link);
      return known ?? answerNew(field, source, args);
    },
    peek(field, source) {
      const header = metadata.find(source.contentDigest);
      if (!header) return undefined;
      if (field === 'original') return toOriginal(source, header, prefix);
      const operations = toCheckedOperations(field, {});
      const size = sizeBeforeTrim(header, operations);
      return toPlain(toResult(field, quiet, { source, size, operations, args: {} }));
    },
    build: (asked, options) => buildImages(makeFile, unique(asked), options),
    prune: (options) => pruneImages(files, options),
    learn: (sources, signal) => learnAll(metadata, sources, signal),
    async close() {
      await tracers.close();
      database.close();
    },
  };
}

/** In the order of pictures, so that one is read from the disk once. */
function unique(links: Iterable<Handout>): Handout[] {
  const byKey = new Map([...links].map((link) => [`${link.contentDigest}/${link.recipeDigest}`, link]));
  return [...byKey.values()].sort((one, other) => (one.contentDigest < other.contentDigest ? -1 : 1));
}

/** What a result says without making pixels. */
function toPlain(result: FieldResult<FieldName>): object {
  const said = Object.entries(result).filter(([, value]) => typeof value !== 'function');
  const src = typeof result.src === 'string' ? result.src : result.src();
  const webp = 'srcWebp' in result ? { srcWebp: result.srcWebp(), srcSetWebp: result.srcSetWebp() } : {};
  return { ...Object.fromEntries(said), src, ...webp };
}

/** For the whole process, as sharp has it. */
function configureSharp(): void {
  // It would remember files by their paths, whose content changes.
  sharp.cache(false);
  // On many cores, the few images that are made at a time share them.
  sharp.concurrency(Math.max(1, Math.floor(availableParallelism() / MAX_PARALLEL)));
}
