import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { LRUCache } from 'lru-cache';
import type { PathAlias } from '../config/site-config.js';
import type { RecordQueries } from '../query/record-queries.js';
import { toFileId } from '../sources/file-records.js';
import { formatProblem, type SiteProblem } from '../sources/problems.js';
import { findAliased, listNormalForms } from '../sources/site-sources.js';
import { mdxToMarkdown } from './mdx.js';
import type { HtmlPieces, LinkSlot } from './rendering.js';

/** The files that relative links in a text may lead to. */
export interface MarkdownTargets {
  /** Returns the link to the public copy of a file. */
  linkTo(file: { readonly base: string; readonly contentDigest: string }): string;
  /** Returns an image in several widths, or `undefined` if the file is not one that can be scaled. */
  findPicture(fileId: string): Promise<MarkdownPicture | undefined>;
}

export interface MarkdownPicture {
  readonly src: string;
  readonly srcSet: string;
  readonly sizes: string;
  readonly width: number;
  readonly height: number;
  /** The same in WebP, if the source has another format. */
  readonly srcSetWebp: string | undefined;
}

/** The text of a record, and the id of the file that contains it. */
export interface MarkdownSource {
  readonly text: string;
  readonly fileId: string | null;
}

/** Converts texts of files to Markdown, and replaces the relative URLs in rendered ones. */
export interface MarkdownLinks {
  /** Returns the text as Markdown, with the same lines. */
  toMarkdown(source: MarkdownSource): string;
  /** @param check Called before each link. Throws if the result is no longer needed. */
  resolve(pieces: HtmlPieces, source: MarkdownSource, check: () => void): Promise<string>;
  /** Returns the links that lead to no file, without those that a warning was about. */
  listBrokenLinks(pieces: HtmlPieces, source: MarkdownSource, check: () => void): Promise<readonly SiteProblem[]>;
}

export interface MarkdownLinksOptions {
  readonly records: Pick<RecordQueries, 'find'>;
  readonly targets: MarkdownTargets;
  /** The site's folder, to which the paths in warnings are relative. */
  readonly directory: string;
  readonly aliases?: readonly PathAlias[];
  /** Called once for each link without a target. */
  readonly warn: (message: string) => void;
}

interface SiteFile {
  readonly id: string;
  readonly absolutePath: string;
  readonly base: string;
  readonly contentDigest: string;
}

const column = (name: string, from = name) => ({ kind: 'column', name, column: from, holds: 'value' }) as const;

const FILE = {
  values: [column('id'), column('absolutePath'), column('base'), column('contentDigest', 'internal.contentDigest')],
  relations: [],
};

/** Further links stay as they are. */
const MAX_LINKS = 5_000;

/** Warnings are repeated when more links than this have no target. */
const MAX_WARNED = 1_000;

/** A larger file is not read again to find the line of a link. */
const MAX_READ = 4 * 1024 * 1024;

/** What follows the path of a page in the name of its text. */
const PAGE_ENDINGS = ['.md', '.mdx', '.markdown', '/index.md', '/index.mdx', '/index.markdown'];

export function createMarkdownLinks({
  records,
  targets,
  directory,
  aliases = [],
  warn,
}: MarkdownLinksOptions): MarkdownLinks {
  const warned = new LRUCache<string, true>({ max: MAX_WARNED });

  const findFile = (id: string): SiteFile | undefined =>
    records.find('File', { filter: { id: { eq: id } } }, FILE) as unknown as SiteFile | undefined;

  const isFolder = (id: string): boolean =>
    records.find('Directory', { filter: { id: { eq: id } } }, { values: [column('id')], relations: [] }) !== undefined;

  const isPage = (absolutePath: string): boolean =>
    PAGE_ENDINGS.some((ending) => findFile(toFileId(absolutePath.replace(/\.html$/u, '') + ending)) !== undefined);

  function findTarget({ is, url }: LinkSlot, from: SiteFile) {
    const { path: target, rest } = splitUrl(url);
    const forms = target === undefined ? [] : listNormalForms(target);
    const below = (folder: string): string[] =>
      forms.map((form) => findAliased(form, aliases) ?? path.posix.join(folder, form));
    const paths = below(path.posix.dirname(from.absolutePath));
    const ids = paths.map((absolutePath) => toFileId(absolutePath));
    const found = ids.map(findFile).find((file) => file !== undefined);
    // The URL of a page may be that of a folder, as `/posts/soup/` for `posts/soup.md`.
    const isOfPage = (): boolean => [...paths, ...below(from.absolutePath.replace(/\.\w+$/u, ''))].some(isPage);
    const isMissing = !found && (is === 'image' || !(ids.some(isFolder) || isOfPage()));
    return { found, rest, isMissing };
  }

  async function resolveSlot(slot: LinkSlot, file: SiteFile, source: MarkdownSource): Promise<string> {
    const { found, rest, isMissing } = findTarget(slot, file);
    if (found)
      return slot.is === 'href' ? escapeAttribute(targets.linkTo(found) + rest) : printImage(slot, found, rest);
    const problem = isMissing ? await describe(slot, file, source) : undefined;
    if (problem) warn(formatProblem(problem));
    return printUnresolved(slot);
  }

  async function printImage(slot: LinkSlot, file: SiteFile, rest: string): Promise<string> {
    const picture = await targets.findPicture(file.id);
    if (!picture) return `<img${slot.attributes} src="${escapeAttribute(targets.linkTo(file) + rest)}">`;
    return printPicture(slot, picture);
  }

  /** Returns the problem of a link, once. */
  async function describe(
    { is, url, line }: LinkSlot,
    file: SiteFile,
    { text }: MarkdownSource,
  ): Promise<SiteProblem | undefined> {
    const key = `${file.absolutePath} ${file.contentDigest} ${url} ${line ?? ''}`;
    if (warned.has(key)) return undefined;
    warned.set(key, true);
    const first = line === undefined ? undefined : await findFirstLine(file.absolutePath, text);
    const shown = path.relative(directory, file.absolutePath);
    const reason = `the ${is === 'image' ? 'image' : 'link'} ${JSON.stringify(toReadable(url))} leads to no file of the site.`;
    const at = first === undefined || line === undefined ? {} : { line: first + line - 1 };
    return { path: at.line === undefined ? `${shown}:` : shown, ...at, reason };
  }

  const findSource = ({ fileId }: MarkdownSource): SiteFile | undefined =>
    fileId === null ? undefined : findFile(fileId);

  return {
    toMarkdown(source) {
      const { text } = source;
      return findSource(source)?.base.toLowerCase().endsWith('.mdx') === true ? mdxToMarkdown(text) : text;
    },
    async resolve(pieces, source, check) {
      const file = findSource(source);
      let html = '';
      let links = 0;
      for (const piece of pieces) {
        if (typeof piece === 'string') html += piece;
        else if (!file || (links += 1) > MAX_LINKS) html += printUnresolved(piece);
        else {
          check();
          html += await resolveSlot(piece, file, source);
        }
      }
      return html;
    },
    async listBrokenLinks(pieces, source, check) {
      const file = findSource(source);
      const problems: SiteProblem[] = [];
      if (!file) return problems;
      for (const slot of pieces.filter((piece) => typeof piece !== 'string').slice(0, MAX_LINKS)) {
        check();
        const problem = findTarget(slot, file).isMissing ? await describe(slot, file, source) : undefined;
        if (problem) problems.push(problem);
      }
      return problems;
    },
  };
}

/** Returns the decoded path of a URL, if it is a path, and the query and fragment. */
function splitUrl(url: string): { readonly path: string | undefined; readonly rest: string } {
  const [, encoded = '', rest = ''] = /^([^?#]*)(.*)$/su.exec(url) ?? [];
  try {
    const decoded = decodeURIComponent(encoded);
    return { path: decoded.includes('\0') ? undefined : decoded.replace(/(?<=.)\/$/u, ''), rest };
  } catch {
    // A percent sign that encodes nothing.
    return { path: encoded, rest };
  }
}

/** Returns a URL without the encoding that rendering adds to letters. */
function toReadable(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

const printUnresolved = ({ is, url, attributes }: LinkSlot): string =>
  is === 'href' ? escapeAttribute(url) : `<img${attributes} src="${escapeAttribute(url)}">`;

/** Prints an image that the browser loads in the width that it needs, and only when it becomes visible. */
function printPicture({ attributes }: LinkSlot, picture: MarkdownPicture): string {
  const sizes = `sizes="${escapeAttribute(picture.sizes)}"`;
  const own = attributes.replaceAll(/ (?:width|height|loading|decoding|sizes)(?:="[^"]*")?(?= |$)/gu, '');
  const size = `width="${picture.width}" height="${picture.height}" loading="lazy" decoding="async"`;
  const image = `<img${own} src="${escapeAttribute(picture.src)}" srcset="${escapeAttribute(oneLine(picture.srcSet))}" ${sizes} ${size}>`;
  if (picture.srcSetWebp === undefined) return image;
  const webp = `<source type="image/webp" srcset="${escapeAttribute(oneLine(picture.srcSetWebp))}" ${sizes}>`;
  return `<picture>${webp}${image}</picture>`;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ');

const escapeAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns the line of a file on which a text begins; `undefined` if the file does not contain the text as it is. */
async function findFirstLine(file: string, text: string): Promise<number | undefined> {
  try {
    const { size } = await stat(file);
    if (size > MAX_READ) return undefined;
    const content = await readFile(file, 'utf8');
    const start = content.indexOf(text);
    return start < 0 ? undefined : content.slice(0, start).split('\n').length;
  } catch {
    // The file was deleted or changed meanwhile.
    return undefined;
  }
}
