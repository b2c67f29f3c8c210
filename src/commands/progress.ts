import { SingleBar } from 'cli-progress';

export interface Progress {
  show(done: number, total: number, failed?: number): void;
  /** Takes the bar away. */
  stop(): void;
}

export interface ProgressOptions {
  readonly quiet: boolean;
  /** What is counted, in the plural. */
  readonly what: string;
  /** Whether they take about the same time each, so that the rest can be told. */
  readonly alike?: boolean;
}

/** A bar on a terminal; nothing in a log, where a summary says it all. */
export function openProgress(stream: NodeJS.WriteStream, { quiet, what, alike = false }: ProgressOptions): Progress {
  if (quiet || !stream.isTTY) return { show: () => undefined, stop: () => undefined };
  const format = `{bar} {value} of {total} ${what}{failed}${alike ? ', {eta_formatted} left' : ''}`;
  const bar = new SingleBar({ stream, format, barsize: 24, hideCursor: true, clearOnComplete: true, etaBuffer: 100 });
  let shown = false;
  return {
    show(done, total, failed = 0) {
      const payload = { failed: failed > 0 ? `, ${failed} failed` : '' };
      if (!shown) bar.start(total, done, payload);
      shown = true;
      bar.update(done, payload);
    },
    stop: () => bar.stop(),
  };
}
