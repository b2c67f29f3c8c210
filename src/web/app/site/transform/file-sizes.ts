import { useEffect, useState } from 'preact/hooks';

/** The size in bytes of the image at each link, once it is known; `null` when the image can't be generated. */
type FileSizes = ReadonlyMap<string, number | null>;

/**
 * Fetches links one after another, which generates their images. A change of the links cancels the remaining requests.
 */
export function useFileSizes(links: readonly string[]): FileSizes {
  const [bytes, setBytes] = useState<FileSizes>(new Map());
  const all = links.join('\n');
  useEffect(() => {
    const controller = new AbortController();
    void measure(all === '' ? [] : all.split('\n'), controller.signal, (link, size) =>
      setBytes((known) => new Map(known).set(link, size)),
    );
    return () => controller.abort();
  }, [all]);
  return bytes;
}

async function measure(
  links: readonly string[],
  signal: AbortSignal,
  report: (link: string, size: number | null) => void,
): Promise<void> {
  for (const link of links) {
    const size = await fetchSize(link, signal).catch(() => null);
    if (signal.aborted) return;
    report(link, size);
  }
}

async function fetchSize(link: string, signal: AbortSignal): Promise<number | null> {
  // A data URL is part of the response, so the length of its text is its size.
  if (link.startsWith('data:')) return link.length;
  const response = await fetch(link, { signal });
  return response.ok ? (await response.blob()).size : null;
}

/** Formats a number of bytes; `…` while it is not known. */
export function formatBytes(size: number | null | undefined): string {
  if (size === undefined) return '…';
  return size === null ? 'failed' : size.toLocaleString();
}

/** Formats a size as a share of the original; empty while it is not known. */
export function formatShare(size: number | null | undefined, original: number): string {
  if (size === undefined || size === null || original === 0) return '';
  return `${Math.round((100 * size) / original)} %`;
}
