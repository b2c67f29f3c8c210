import prettyBytes from 'pretty-bytes';
import { escapeControls } from './sources/problems.js';
import type { ScanProgress } from './sources/scan-source.js';
import type { SourceRunResult } from './sources/source-modules.js';
import type { SiteChange } from './watch/site-watcher.js';

interface ScanTerminal {
  show(progress: ScanProgress): void;
  /** Removes the bar. Call it also when the scan fails. */
  stop(): void;
}

/** A shorter scan ends before anyone could read a bar. */
const QUIET_MS = 500;

/** Often enough to show that the scan is running, without flooding a log. */
const LINE_EVERY_MS = 3000;

/** A terminal, or another receiver of lines. */
export interface ScanOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows the progress of a scan: a bar on a terminal, a line every few seconds elsewhere, nothing for a short scan. */
export async function openScanTerminal(stream: ScanOutput): Promise<ScanTerminal> {
  const started = performance.now();
  // Only the streams of Node are terminals.
  const view = stream.isTTY === true ? await barOn(stream as NodeJS.WriteStream) : linesOn(stream);
  return {
    show(progress) {
      const milliseconds = performance.now() - started;
      if (milliseconds > QUIET_MS) view.show(progress, milliseconds);
    },
    stop: () => view.stop(),
  };
}

interface View {
  show(progress: ScanProgress, milliseconds: number): void;
  stop(): void;
}

async function barOn(stream: NodeJS.WriteStream): Promise<View> {
  const { SingleBar } = await import('cli-progress');
  const bar = new SingleBar({ stream, format: '{bar} {text}', barsize: 24, hideCursor: true, clearOnComplete: true });
  let shown = false;
  return {
    show(progress, milliseconds) {
      const payload = { text: describeProgress(progress, milliseconds) };
      if (!shown) bar.start(1, 0, payload);
      shown = true;
      bar.update(toFraction(progress), payload);
    },
    stop: () => bar.stop(),
  };
}

/** Measures bytes where they are known, because file sizes vary widely. */
function toFraction({ total, hashed, bytes, totalBytes }: ScanProgress): number {
  const [done, all] = totalBytes === undefined ? [hashed, total] : [bytes, totalBytes];
  return all === 0 ? 0 : done / all;
}

function linesOn(stream: ScanOutput): View {
  let lastMs = 0;
  return {
    show(progress, milliseconds) {
      if (milliseconds - lastMs < LINE_EVERY_MS) return;
      lastMs = milliseconds;
      stream.write(`${describeProgress(progress, milliseconds)}\n`);
    },
    stop: () => undefined,
  };
}

/** Formats progress, for example `Reading the site: 12,000 of 20,000 files, 110 MB of 184 MB, 92 MB/s`. */
export function describeProgress(
  { found, total, hashed, bytes, totalBytes }: ScanProgress,
  milliseconds: number,
): string {
  if (total === 0) return `Listing the site: ${toCount(found)} files and folders`;
  const rate = prettyBytes(Math.round((bytes * 1000) / Math.max(1, milliseconds)));
  const ofBytes = totalBytes === undefined ? '' : ` of ${prettyBytes(totalBytes)}`;
  return `Reading the site: ${toCount(hashed)} of ${toCount(total)} files, ${prettyBytes(bytes)}${ofBytes}, ${rate}/s`;
}

function toCount(value: number): string {
  return value.toLocaleString('en');
}

/** The number of warnings that fit on a screen with other output. */
const MAX_SHOWN = 20;

/** The maximum length of a line, as a warning may quote an arbitrarily long value of a file. */
const MAX_LENGTH = 300;

/** Formats the warnings of a site, one per line, and the number of those not shown. */
export function formatWarnings(messages: readonly string[], count = messages.length): string {
  const shown = messages.slice(0, MAX_SHOWN).map((message) => `Warning: ${toLine(message)}\n`);
  const rest = count - shown.length;
  return shown.join('') + (rest > 0 ? `Warning: and ${rest.toLocaleString('en')} more.\n` : '');
}

function toLine(message: string): string {
  const plain = escapeControls(message);
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH - 1)}…` : plain;
}

/** Formats a change as a line, for example `3 files changed, 1 removed (12 ms)`. */
export function formatChange({ added, changed, removed, folders, milliseconds }: SiteChange): string {
  const parts = Object.entries({ added, changed, removed }).filter(([, count]) => count > 0);
  const texts = parts.map(
    ([word, count], index) => `${index === 0 ? toCounted(count, 'file') : toCount(count)} ${word}`,
  );
  const line = texts.length > 0 ? texts.join(', ') : `${toCounted(folders, 'folder')} added or removed`;
  return `${line} (${Math.ceil(milliseconds)} ms)`;
}

/** Formats what a run of a source changed: `Source news: 3 records written, 1 deleted (120 ms)`. */
export function formatSourceRun({ source, written, deleted, milliseconds }: SourceRunResult): string {
  return `Source ${source}: ${toCounted(written, 'record')} written, ${toCount(deleted)} deleted (${Math.ceil(milliseconds)} ms)`;
}

function toCounted(count: number, noun: string): string {
  return `${toCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
