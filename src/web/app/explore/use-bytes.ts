import { useEffect, useState } from 'preact/hooks';

/** How many bytes each link leads to, once it is known; `null` for what can't be made. */
export type Bytes = ReadonlyMap<string, number | null>;

/** Reads links one after the other, which makes their images; what is not wanted any more is not asked for. */
export function useBytes(links: readonly string[]): Bytes {
  const [bytes, setBytes] = useState<Bytes>(new Map());
  const all = links.join('\n');
  useEffect(() => {
    const wanted = new AbortController();
    void measure(all === '' ? [] : all.split('\n'), wanted.signal, (link, size) =>
      setBytes((known) => new Map(known).set(link, size)),
    );
    return () => wanted.abort();
  }, [all]);
  return bytes;
}

async function measure(
  links: readonly string[],
  signal: AbortSignal,
  tell: (link: string, size: number | null) => void,
): Promise<void> {
  for (const link of links) {
    const size = await weigh(link, signal).catch(() => null);
    if (signal.aborted) return;
    tell(link, size);
  }
}

async function weigh(link: string, signal: AbortSignal): Promise<number | null> {
  // What is in the answer itself is as long as its text.
  if (link.startsWith('data:')) return link.length;
  const response = await fetch(link, { signal });
  return response.ok ? (await response.blob()).size : null;
}
