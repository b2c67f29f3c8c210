import { setImmediate as pause } from 'node:timers/promises';
import { AppError } from '@trellis/core/errors';
import type { FieldArguments, FieldResult } from '@trellis/images/plan/field-results';
import {
  createMarkdownLinks,
  type MarkdownPicture,
  type MarkdownSource,
  type MarkdownTargets,
} from '@trellis/site/markdown/links';
import { openMarkdownRenderer } from '@trellis/site/markdown/markdown-renderer';
import type { ReadableSite } from '@trellis/site/site';
import { formatProblem, type SiteProblem } from '@trellis/site/sources/problems';
import { type AheadLog, type WorkAhead, workAhead } from './ahead.js';
import type { ImageService, MarkdownService, OpenSite } from './service.js';

interface MarkdownOptions {
  readonly imaging: Pick<ImageService, 'images' | 'pictures' | 'publicFiles'>;
  /** The site's folder. */
  readonly directory: string;
  /** The folder of stored renderings, or `undefined` to keep them in memory. */
  readonly cacheDirectory: string | undefined;
  /** Receives one line for each link in a text that leads to no file. */
  readonly warn: (line: string) => void;
}

/** Opens the renderer of a site. It loads the libraries and starts its thread with the first text. */
export function openMarkdown(
  { store, config: { markdown, aliases } }: Pick<ReadableSite, 'config' | 'store'>,
  { imaging, directory, cacheDirectory, warn }: MarkdownOptions,
): MarkdownService {
  const targets = createTargets(imaging, { maxWidth: markdown.imageWidth });
  return {
    ...openMarkdownRenderer({ ...markdown, directory: cacheDirectory }),
    ...createMarkdownLinks({ records: store, targets, directory, aliases, warn }),
  };
}

/** The formats that browsers show best in several widths. A GIF may be animated, and an SVG has every width. */
const SCALED = /^\.(?:avif|jpe?g|png|tiff?|webp)$/iu;

function createTargets(
  { images, pictures, publicFiles }: MarkdownOptions['imaging'],
  args: FieldArguments['fluid'],
): MarkdownTargets {
  return {
    linkTo: (file) => publicFiles.linkTo(file),
    async findPicture(id) {
      const source = pictures.known(id) ?? pictures.findAll([id]).get(id);
      if (!source || !SCALED.test(source.ext)) return undefined;
      try {
        return toPicture(await images.answer('fluid', source, args));
      } catch (error) {
        // The content differs from the name.
        if (error instanceof AppError) return undefined;
        throw error;
      }
    },
  };
}

const toPicture = ({ src, srcSet, sizes, srcSetWebp, ...size }: FieldResult<'fluid'>): MarkdownPicture => ({
  ...{ src, srcSet, sizes },
  width: size.presentationWidth,
  height: size.presentationHeight,
  srcSetWebp: srcSetWebp() ?? undefined,
});

/** The texts that are read from the records at a time. */
const PAGE = 200;

/** The links of a round that are named in the log. */
const MAX_SHOWN = 20;

/** Until then, a server that was just started handles its first requests. */
const START_MS = 2_000;

const column = (name: string) => ({ kind: 'column', name, column: name, holds: 'value' }) as const;

/**
 * Renders the texts of all fields with `@markdown`, and then those of records that were added or changed, and reports the links
 * in them that lead to no file. Without it, the first query that sorts thousands of records by a rendered value, such as the
 * time to read, exceeds its time limit.
 *
 * @returns `undefined` for a site without such fields.
 */
export function prepareSiteTexts(
  { site: { store }, schema: { tables }, markdown }: Pick<OpenSite, 'markdown' | 'schema' | 'site'>,
  log: AheadLog,
): WorkAhead | undefined {
  const fields = Object.values(tables).flatMap((table) =>
    table.fields.flatMap((field) =>
      field.kind === 'computed' && field.markdown !== undefined ? [{ kind: table.kind, text: field.markdown }] : [],
    ),
  );
  if (fields.length === 0) return undefined;

  function* listTexts(ids: readonly string[] | undefined): Generator<MarkdownSource> {
    const filter = ids && { id: { in: [...ids] } };
    for (const { kind, text } of fields) {
      const selection = { values: [column(text), column('parent')], relations: [] };
      for (let skip = 0; ; skip += PAGE) {
        const { nodes } = store.page(kind, { filter, skip, limit: PAGE }, selection);
        for (const node of nodes) {
          if (typeof node[text] === 'string')
            yield { text: node[text], fileId: typeof node.parent === 'string' ? node.parent : null };
        }
        if (nodes.length < PAGE) break;
      }
    }
  }

  async function prepare(ids: readonly string[] | undefined, signal: AbortSignal): Promise<number> {
    const check = (): void => signal.throwIfAborted();
    const broken: SiteProblem[] = [];
    let rendered = 0;
    for (const source of listTexts(ids)) {
      // Requests come first.
      await pause();
      if (signal.aborted || markdown.isFull()) break;
      const text = markdown.toMarkdown(source);
      if (await markdown.prepare(text, check)) rendered += 1;
      broken.push(...(await findBrokenLinks(text, source, check)));
    }
    report(broken);
    return rendered;
  }

  /** Names the first place of links with the same text, such as one whose target was renamed. */
  function report(broken: readonly SiteProblem[]): void {
    const counts = new Map<string, number>();
    for (const { reason } of broken) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    const shown = [...counts].slice(0, MAX_SHOWN);
    for (const [reason, count] of shown) {
      const first = broken.find((one) => one.reason === reason);
      const links = count > 1 ? ` (${count.toLocaleString('en')} links).` : '.';
      if (first) log.warn(formatProblem({ ...first, reason: reason.replace(/\.$/u, links) }));
    }
    const rest = counts.size - shown.length;
    if (rest > 0) log.warn(`and ${rest.toLocaleString('en')} more.`);
  }

  async function findBrokenLinks(
    text: string,
    source: MarkdownSource,
    check: () => void,
  ): Promise<readonly SiteProblem[]> {
    try {
      const { html } = await markdown.render(text, check);
      return await markdown.listBrokenLinks(html, source, check);
    } catch (error) {
      // A query for the text reports it.
      if (error instanceof AppError) return [];
      throw error;
    }
  }

  const kinds = fields.map(({ kind }) => kind);
  return workAhead({ store, kinds, name: 'Texts', delayMs: START_MS, log, prepare });
}
