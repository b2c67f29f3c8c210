import type { CrawlProgress } from '../crawl-progress.js';
import type { RecordStore } from '../record-store.js';
import type { Content, ContentProblems } from './content/content.js';
import { crawl } from './crawl.js';
import type { CrawlSummary } from './crawl.js';
import type { SiteSource } from './site-source.js';
import type { WalkObserver } from './walk.js';

export interface CrawlSourcesOptions {
  readonly sources: readonly SiteSource[];
  readonly store: RecordStore;
  readonly content: Content;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CrawlProgress) => void) | undefined;
  /** Gives who is told of a source's folders and links. */
  readonly observerOf?: ((source: SiteSource) => WalkObserver) | undefined;
  /** Whether a source is written in one transaction. */
  readonly atomic?: boolean;
}

export interface SourcesCrawl {
  readonly summary: CrawlSummary;
  readonly problems: ContentProblems;
}

/** Crawls one source after the other, and again those with links that lead to what a later one has found. */
export async function crawlSources(from: CrawlSourcesOptions): Promise<SourcesCrawl> {
  const { sources, content, observerOf, ...options } = from;
  const summaries: CrawlSummary[] = [];
  for (const source of sources) {
    summaries.push(await crawl({ ...options, source, content: content.of(source), observer: observerOf?.(source) }));
  }
  for (const [place, source] of sources.entries()) {
    const files = content.of(source);
    if (!files.hasUnread) continue;
    const { hashed, milliseconds } = summaries[place] ?? NOTHING;
    const again = await crawl({ ...options, source, content: files, observer: observerOf?.(source) });
    summaries[place] = { ...again, hashed: hashed + again.hashed, milliseconds: milliseconds + again.milliseconds };
  }
  return { summary: summaries.reduce(add, NOTHING), problems: content.settle() };
}

const NOTHING: CrawlSummary = {
  files: 0,
  directories: 0,
  images: 0,
  bytes: 0,
  hashed: 0,
  linksLeftOut: 0,
  milliseconds: 0,
};

function add(one: CrawlSummary, other: CrawlSummary): CrawlSummary {
  const names = Object.keys(NOTHING) as (keyof CrawlSummary)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as unknown as CrawlSummary;
}
