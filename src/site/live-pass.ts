import { LiveLook } from './live-look.js';
import type { LiveCounts, LiveLookOptions } from './live-look.js';
import type { LiveSource } from './live-source.js';
import type { SiteProblem } from './problems.js';
import type { ContentProblems } from './sources/content/content.js';
import { RACY_MS } from './sources/entries.js';
import { openDigesters } from './sources/digesters.js';
import { NeedsCrawlError } from './needs-crawl-error.js';

export interface PassOptions extends LiveLookOptions {
  readonly sources: readonly LiveSource[];
}

export interface PassResult extends LiveCounts {
  readonly problems: ContentProblems;
  /** The entries that are newly skipped. */
  readonly skipped: readonly SiteProblem[];
}

/** The maximum delay with which the system reports a change. */
export const LATE_MS = 1000;

/**
 * Applies the changes of the sources to the store: reads all of them first, then writes them in one transaction.
 *
 * @throws NeedsCrawlError when the sources must be scanned instead.
 */
export async function runPass(options: PassOptions): Promise<PassResult> {
  const looks = options.sources.map((live) => new LiveLook(live, options));
  try {
    return await applyAll(looks, options);
  } catch (error) {
    for (const look of looks) look.giveBack();
    throw error;
  }
}

async function applyAll(looks: readonly LiveLook[], options: PassOptions): Promise<PassResult> {
  const { sources, store, content, signal } = options;
  const untilMs = Date.now() - RACY_MS - LATE_MS;
  for (const look of looks) await look.look();
  for (const look of looks) look.expectLinks();
  for (const look of looks) if (look.content.hasUnread) await look.look();
  await readAll(looks);
  signal.throwIfAborted();
  if (!sources.every(({ isInPlace }) => isInPlace)) throw new NeedsCrawlError('A folder of the site was replaced.');
  const changed = looks.filter(({ changesAnything }) => changesAnything);
  if (changed.length > 0) {
    store.write((rows) => {
      for (const look of changed) look.write(rows, untilMs);
    });
  }
  const skipped = looks.flatMap((look) => look.finish());
  return { ...looks.map(({ counts }) => counts).reduce(add, NOTHING), problems: content.settle(), skipped };
}

const NOTHING: LiveCounts = { added: 0, changed: 0, removed: 0, folders: 0 };

function add(one: LiveCounts, other: LiveCounts): LiveCounts {
  return {
    added: one.added + other.added,
    changed: one.changed + other.changed,
    removed: one.removed + other.removed,
    folders: one.folders + other.folders,
  };
}

async function readAll(looks: readonly LiveLook[]): Promise<void> {
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
