import { AppError } from '@trellis/core/errors';
import type { RecordStore } from '../record-store.js';
import type { ContentProblems, ContentRecords } from './content/content.js';
import type { LargeFileDigests } from './digests/large-file-digests.js';
import type { EntryProblems, SiteProblem } from './problems.js';
import { type ScanOptions, type ScanProgress, scanSource, type ScanSummary } from './scan-source.js';
import type { SiteSource } from './site-sources.js';
import type { WalkObserver } from './walk.js';

export interface ScanSourcesOptions {
  readonly sources: readonly SiteSource[];
  readonly store: RecordStore;
  readonly content: ContentRecords;
  /** Updated with the problems of these sources. */
  readonly problems: EntryProblems;
  readonly late?: LargeFileDigests;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ScanProgress) => void;
  /** Returns the observer of a source's folders and links. */
  readonly observerOf?: (source: SiteSource) => WalkObserver;
  /** Whether each source is written in one transaction. */
  readonly atomic?: boolean;
}

export interface SourcesScanResult {
  readonly summary: ScanSummary;
  readonly problems: ContentProblems;
  /** The entries that are newly skipped. */
  readonly skipped: readonly SiteProblem[];
  /** The sources that can't be read at all; their records are unchanged. */
  readonly failures: readonly SourceFailure[];
}

export interface SourceFailure {
  readonly source: SiteSource;
  readonly error: AppError;
}

/** Scans one source after the other, and again those with links to files that a later source has added or removed. */
export async function scanSources(from: ScanSourcesOptions): Promise<SourcesScanResult> {
  const { sources, content } = from;
  const summaries = new Map<SiteSource, ScanSummary>();
  const failures: SourceFailure[] = [];
  const skipped: SiteProblem[] = [];
  const scan = async (source: SiteSource): Promise<void> => {
    try {
      const { summary, fresh } = await scanWithProblems(source, from);
      const { hashed, milliseconds } = summaries.get(source) ?? NOTHING;
      const both = { hashed: hashed + summary.hashed, milliseconds: milliseconds + summary.milliseconds };
      summaries.set(source, { ...summary, ...both });
      skipped.push(...fresh);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failures.push({ source, error });
      skipped.push(...from.problems.replace(source, [{ path: '', reason: toReason(error), isName: false }]));
    }
  };
  for (const source of sources) await scan(source);
  for (const source of summaries.keys()) if (content.of(source).hasUnread) await scan(source);
  return { summary: [...summaries.values()].reduce(add, NOTHING), problems: content.settle(), skipped, failures };
}

async function scanWithProblems(
  source: SiteSource,
  { content, problems, observerOf, ...options }: ScanSourcesOptions,
): Promise<{ summary: ScanSummary; fresh: SiteProblem[] }> {
  const from: ScanOptions = { ...options, source, content: content.of(source), observer: observerOf?.(source) };
  const { summary, problems: found } = await scanSource(from);
  return { summary, fresh: problems.replace(source, found) };
}

const toReason = ({ message }: AppError): string => message.replace(/\.$/, '');

const NOTHING: ScanSummary = {
  files: 0,
  directories: 0,
  images: 0,
  bytes: 0,
  hashed: 0,
  linksLeftOut: 0,
  privateLeftOut: 0,
  late: 0,
  milliseconds: 0,
};

function add(one: ScanSummary, other: ScanSummary): ScanSummary {
  const names = Object.keys(NOTHING) as (keyof ScanSummary)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as unknown as ScanSummary;
}
