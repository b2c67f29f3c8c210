import { createHash } from 'node:crypto';
import { constants, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { limitConcurrency } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { Command } from 'commander';
import { CONFIG_OPTIONS } from '../config/options.js';
import { StartupError } from '../config/startup-error.js';
import type { ImageService } from '../site-data/service.js';
import { runSiteCommand } from './images.js';
import { openProgressBar } from './progress-bar.js';
import { addServerOptions } from './server-options.js';
import type { ImagesCommandOptions, StoredResponse } from './stored-images.js';

type Flags = Readonly<Record<string, string | boolean | undefined>> & { readonly output: string };

/** `trellis export`: writes the responses of the stored queries, and the files that they link to, for a static site. */
export function exportCommand(): Command {
  const { site, state, imagesQuota, imagePixels } = CONFIG_OPTIONS;
  return addServerOptions(new Command('export'), site, state, imagesQuota, imagePixels)
    .description("Write the responses of the site's stored queries, with their images and files, for a static site")
    .requiredOption('--output <folder>', 'folder to write to; deletes what the last export wrote and this one does not')
    .option('--quiet', 'print failures only')
    .action(({ output, ...flags }: Flags) =>
      runSiteCommand(flags, (options) => exportSite({ ...options, output: path.resolve(output) })),
    );
}

export interface ExportOptions extends ImagesCommandOptions {
  /** The absolute path of the folder to write to. */
  readonly output: string;
}

/** What an export wrote, in `export.json`. All paths are relative to the folder, with `/`. */
interface Manifest {
  readonly queries: readonly ExportedQuery[];
  readonly files: readonly string[];
}

interface ExportedQuery {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly page: number;
  /** The file with the response. */
  readonly file: string;
}

const MANIFEST = 'export.json';

/**
 * Links of an export are the same at each run and on each machine. No server accepts their signatures, which nobody
 * verifies in a folder of files.
 */
const LINK_KEY = Buffer.from('links of files that an export writes');

/** More copies at once would not speed up a disk. */
const MAX_COPIES = 8;

/**
 * Exports a site to a folder: the response of each stored query as JSON, and the images and files that they link to.
 * Writes only what is missing or differs, and deletes what the last export wrote and this one does not. Returns the
 * exit code: 1 if a part of a query failed or a file could not be written; then nothing is deleted.
 *
 * @throws StartupError for a site, a query or a folder that can't be used.
 */
export async function exportSite(options: ExportOptions): Promise<number> {
  const { output, print, quiet, terminal } = options;
  const startedAt = performance.now();
  const before = await readManifest(output);
  const responses: StoredResponse[] = [];
  const onResponse = (response: StoredResponse): void => void responses.push(response);
  const { findQueryFolder } = await import('@trellis/site/graphql/stored-queries');
  const { withStoredImages } = await import('./stored-images.js');
  return withStoredImages({ ...options, linkKey: LINK_KEY, onResponse }, async ({ imaging, siteConfig, failures }) => {
    const messages = failures.map(({ message }) => message);
    const base = findQueryFolder(siteConfig.queries);
    const exported = responses.map((response) => toExported(response, base));
    const links = new Set(exported.flatMap(({ text }) => findLinks(text, siteConfig.pathPrefix)));
    const writer = new FolderWriter(output);
    const onFailure = (message: string): void => void messages.push(message);
    const files = await exportFiles([...links], { imaging, writer, options, onFailure });
    for (const { file, text } of exported) await writer.writeText(file, text);
    const current = new Set([...exported.map(({ file }) => file), ...files]);
    const isComplete = messages.length === 0;
    const deleted = isComplete ? await writer.remove(before, current) : 0;
    const { written } = writer;
    // After a failure, the files of the last export still belong to the folder.
    const listed = isComplete ? current : new Set([...current, ...before]);
    const queries = exported.map(({ text: _text, ...query }) => query);
    await writer.writeText(MANIFEST, toText({ queries, files: [...listed].sort() } satisfies Manifest));
    for (const message of new Set(messages)) terminal.write(`trellis: ${message}\n`);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const counts = `${written} written, ${current.size - written} unchanged, ${deleted} deleted`;
    if (!quiet) print(`${current.size} files exported: ${counts}, in ${seconds} s.`);
    return isComplete ? 0 : 1;
  });
}

const toText = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Returns the files that the last export wrote to the folder. */
async function readManifest(output: string): Promise<readonly string[]> {
  const text = await readFile(path.join(output, MANIFEST), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '{ "files": [] }';
    throw error;
  });
  const { files } = parseManifest(text);
  if (Array.isArray(files) && files.every((file) => typeof file === 'string' && FILE.test(file)))
    return files as string[];
  throw new StartupError(
    `Expected ${path.join(output, MANIFEST)} to be that of an export. Delete it or use another folder`,
  );
}

/** A file that an export writes. Others are never deleted. */
const FILE = /^(?:data|static)(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)+$/u;

function parseManifest(text: string): { readonly files?: unknown } {
  try {
    return JSON.parse(text) as { readonly files?: unknown };
  } catch {
    return {};
  }
}

interface Exported extends ExportedQuery {
  readonly text: string;
}

/** @param base The folder of the stored queries, which is not repeated in the paths. */
function toExported({ query, variables, stored, page, data }: StoredResponse, base: string): Exported {
  const below = base === '' ? query.file : path.posix.relative(base, query.file);
  const name = `data/${below.replace(/\.[^./]*$/u, '')}`;
  const { skip, ...own } = stored;
  // Sets may differ in the records that they skip.
  const named = skip === 0 ? own : stored;
  const set = Object.keys(named).length === 0 ? '' : `/${nameVariables(named)}`;
  const file = `${name}${set}${page === 1 ? '' : `.page-${page}`}.json`;
  return { query: query.file, variables, page, file, text: toText({ data }) };
}

/** Names a set of variables: their values, as far as they can be part of a file's name, and a digest. */
function nameVariables(variables: object): string {
  const digest = createHash('sha256').update(JSON.stringify(variables)).digest('hex').slice(0, 8);
  const words = Object.values(variables).filter((value) => typeof value === 'string' || typeof value === 'number');
  const readable = words
    .join('-')
    .replace(/[^\w-]+/gu, '-')
    .slice(0, 60);
  return readable === '' ? digest : `${readable}-${digest}`;
}

/**
 * A link to a file or an image, which begins with a digest, or to an original, whose name has it. The characters are those
 * of a path that `encodeURIComponent` leaves or writes.
 */
const LINK = /^\/static\/(?:[0-9a-f]{32}\/[\w.!~*'()%/-]+|[\w.!~*'()%-]+-[0-9a-f]{32}(?:\.[\w.!~*'()%-]+)?)/u;

/** Returns the paths below `/static` of the links in a response, also those in HTML and in `srcSet`. */
function findLinks(text: string, pathPrefix: string): string[] {
  const all = text
    .split(`${pathPrefix}/static/`)
    .slice(1)
    .flatMap((part) => LINK.exec(`/static/${part}`)?.[0] ?? []);
  return all.map((link) => link.slice('/static'.length));
}

interface FileExport {
  readonly imaging: ImageService;
  readonly writer: FolderWriter;
  readonly options: ExportOptions;
  readonly onFailure: (message: string) => void;
}

/** Writes the files and images of links, and returns their paths in the folder. */
async function exportFiles(
  links: readonly string[],
  { imaging, writer, options, onFailure }: FileExport,
): Promise<string[]> {
  const { terminal, quiet, signal } = options;
  const limit = limitConcurrency(MAX_COPIES);
  const progress = await openProgressBar(terminal, { quiet, items: 'files', hasEstimate: true });
  const files: string[] = [];
  let done = 0;
  try {
    await Promise.all(
      links.map((link) =>
        limit(async () => {
          signal.throwIfAborted();
          const found = await exportFile(link, imaging, writer).catch((error: unknown) => {
            if (!(error instanceof AppError)) throw error;
            onFailure(`${decode(link)}: ${error.message}`);
          });
          if (found !== undefined) files.push(found);
          progress.show((done += 1), links.length);
        }),
      ),
    );
  } finally {
    progress.stop();
  }
  return files;
}

/** Text beside a link may end with characters that a link may have too, such as a bracket. */
async function exportFile(link: string, imaging: ImageService, writer: FolderWriter): Promise<string | undefined> {
  for (let path = link; path.length > 1; path = path.slice(0, -1)) {
    const open = findFile(path, imaging);
    const file = `static${decode(path)}`;
    if (open && (await writer.copy(file, open))) return file;
    if (!/[.!~*'()]$/u.test(path)) return undefined;
  }
  return undefined;
}

type OpenFile = () => Promise<{ readonly absolutePath: string } | undefined>;

function findFile(link: string, { images, publicFiles }: ImageService): OpenFile | undefined {
  const image = images.findRoute(link);
  if (image) return async () => (await image.find()) ?? image.generate();
  const name = publicFiles.parsePath(link) ?? images.parseOriginal(link);
  return name && (() => publicFiles.publish(name));
}

function decode(link: string): string {
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}

/** Writes the files of an export. Each appears complete or not at all. */
class FolderWriter {
  /** The number of files that were missing or differed. */
  written = 0;
  readonly #output: string;

  constructor(output: string) {
    this.#output = output;
  }

  /** Writes a text unless the file has it already. */
  async writeText(file: string, text: string): Promise<void> {
    const known = await readFile(this.#at(file), 'utf8').catch(() => undefined);
    if (known === text) return;
    await this.#put(file, (temporary) => writeFile(temporary, text));
  }

  /** Copies a file unless it exists, as the path of an image or file changes with its content. Returns whether it exists. */
  async copy(file: string, open: OpenFile): Promise<boolean> {
    if (
      await stat(this.#at(file)).then(
        (stats) => stats.isFile(),
        () => false,
      )
    )
      return true;
    const source = await open();
    if (source === undefined) return false;
    await this.#put(file, (temporary) => copyFile(source.absolutePath, temporary, constants.COPYFILE_FICLONE));
    return true;
  }

  /** Deletes those files of the last export that are not in this one. Returns their number. */
  async remove(before: readonly string[], current: ReadonlySet<string>): Promise<number> {
    const obsolete = before.filter((file) => !current.has(file));
    for (const file of obsolete) await rm(this.#at(file), { force: true });
    return obsolete.length;
  }

  async #put(file: string, write: (temporary: string) => Promise<void>): Promise<void> {
    const target = this.#at(file);
    const temporary = `${target}.${process.pid}.tmp`;
    await mkdir(path.dirname(target), { recursive: true });
    try {
      await write(temporary);
      await rename(temporary, target);
      this.written += 1;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  #at(file: string): string {
    return path.join(this.#output, ...file.split('/'));
  }
}
