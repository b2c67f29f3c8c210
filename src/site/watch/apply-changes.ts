import { SourceUpdate } from './source-update.js';
import type { ChangeCounts, SourceUpdateOptions } from './source-update.js';
import type { WatchedSource } from './watched-source.js';
import type { SiteProblem } from '../problems.js';
import type { ContentProblems } from '../sources/content/content.js';
import { TIMESTAMP_GRANULARITY_MS } from '../sources/entries.js';
import { openDigesters } from '../sources/digesters.js';
import { RescanRequiredError } from '../rescan-required-error.js';

export interface ApplyChangesOptions extends SourceUpdateOptions {
  readonly sources: readonly WatchedSource[];
}

export interface AppliedChanges extends ChangeCounts {
  readonly problems: ContentProblems;
  /** The entries that are newly skipped. */
  readonly skipped: readonly SiteProblem[];
}

/** The maximum delay with which the system reports a change. */
export const WATCH_DELAY_MS = 1000;

/**
 * Applies the changes of the sources to the store: reads all of them first, then writes them in one transaction.
 *
 * @throws NeedsCrawlError when the sources must be scanned instead.
 */
export async function applyChanges(options: ApplyChangesOptions): Promise<AppliedChanges> {
  const looks = options.sources.map((live) => new SourceUpdate(live, options));
  try {
    return await applyAll(looks, options);
  } catch (error) {
    for (const look of looks) look.returnChanges();
    throw error;
  }
}

async function applyAll(looks: readonly SourceUpdate[], options: ApplyChangesOptions): Promise<AppliedChanges> {
  const { sources, store, content, signal } = options;
  const untilMs = Date.now() - TIMESTAMP_GRANULARITY_MS - WATCH_DELAY_MS;
  for (const look of looks) await look.findChanges();
  for (const look of looks) look.markLinkingFiles();
  for (const look of looks) if (look.content.hasUnread) await look.findChanges();
  await readAll(looks);
  signal.throwIfAborted();
  if (!sources.every(({ isInPlace }) => isInPlace)) throw new RescanRequiredError('A folder of the site was replaced.');
  const changed = looks.filter(({ changesAnything }) => changesAnything);
  if (changed.length > 0) {
    store.write((rows) => {
      for (const look of changed) look.write(rows, untilMs);
    });
  }
  const skipped = looks.flatMap((look) => look.finish());
  return { ...looks.map(({ counts }) => counts).reduce(add, NOTHING), problems: content.settle(), skipped };
}

const NOTHING: ChangeCounts = { added: 0, changed: 0, removed: 0, folders: 0 };

function add(one: ChangeCounts, other: ChangeCounts): ChangeCounts {
  return {
    added: one.added + other.added,
    changed: one.changed + other.changed,
    removed: one.removed + other.removed,
    folders: one.folders + other.folders,
  };
}

async function readAll(looks: readonly SourceUpdate[]): Promise<void> {
  const work = looks.map(({ work }) => work);
  const digesters = openDigesters({
    files: work.reduce((sum, { files }) => sum + files, 0),
    bytes: work.reduce((sum, { bytes }) => sum + bytes, 0),
  });
  try {
    for (const look of looks) await look.read(digesters);
  } finally {
    await digesters.close();
  }
}
