export interface ProgressBar {
  show(done: number, total: number, failed?: number): void;
  /** Removes the bar. */
  stop(): void;
}

export interface ProgressBarOptions {
  readonly quiet: boolean;
  /** The counted items, in the plural. */
  readonly items: string;
  /** Whether items take about the same time, so that the rest can be estimated. */
  readonly hasEstimate?: boolean;
}

/** Shows a bar on a terminal, and nothing in a log. */
export async function openProgressBar(
  stream: NodeJS.WriteStream,
  { quiet, items, hasEstimate = false }: ProgressBarOptions,
): Promise<ProgressBar> {
  if (quiet || !stream.isTTY) return { show: () => undefined, stop: () => undefined };
  const { SingleBar } = await import('cli-progress');
  const format = `{bar} {value} of {total} ${items}{failed}${hasEstimate ? ', {eta_formatted} left' : ''}`;
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
