import { useEffect, useState } from 'preact/hooks';
import { limitWait, type Problem, toProblem } from '../../api.js';
import { queryLater, SiteQueryError } from '../query-site.js';
import { formatQuery, type TransformField } from './transform.js';

/** Waits for the user to stop typing, so that not every letter generates an image. */
const QUERY_DELAY_MS = 400;

export interface TransformResult {
  readonly src?: string | null;
  readonly srcSet?: string | null;
  readonly width?: number | null;
  readonly height?: number | null;
  readonly presentationWidth?: number | null;
  readonly presentationHeight?: number | null;
  readonly base64?: string | null;
  readonly tracedSVG?: string | null;
}

export interface TransformState {
  /** The latest derived image. It stays while the next one is generated. */
  readonly image?: TransformResult;
  /** Whether the image belongs to the current values of the form. */
  readonly isCurrent: boolean;
  readonly problem?: Problem;
  /** The argument that caused the problem. */
  readonly field?: string;
}

interface DerivedImageRequest {
  readonly path: string;
  readonly shape: TransformField;
  readonly args: string;
  readonly results: readonly string[];
  /** Whether all arguments are valid; otherwise no query is sent. */
  readonly isWritten: boolean;
}

/** The fields that the preview needs, whichever fields the user selects for the query. */
const SHOWN = ['src', 'srcSet', 'width', 'height', 'presentationWidth', 'presentationHeight'];
const SHOWN_WHEN_SELECTED = ['base64', 'tracedSVG'];

interface MadeResult {
  readonly file: { readonly childImageProc: Readonly<Record<string, TransformResult | null>> | null } | null;
}

/** Requests derived images once the form has been unchanged for a moment. */
export function useDerivedImage({
  path,
  shape: { name, field },
  args,
  results,
  isWritten,
}: DerivedImageRequest): TransformState {
  const shown = name === 'traced' ? ['tracedSVG', 'aspectRatio'] : SHOWN;
  const selected = field.results
    .map((result) => result.name)
    .filter((result) => shown.includes(result) || (SHOWN_WHEN_SELECTED.includes(result) && results.includes(result)));
  const query = formatQuery(path, field.name, args, selected);
  const [{ forQuery, ...made }, setMade] = useState<Omit<TransformState, 'isCurrent'> & { readonly forQuery: string }>({
    forQuery: '',
  });
  useEffect(() => {
    if (!isWritten) return;
    return queryLater<MadeResult>([query], QUERY_DELAY_MS, ({ result, error }) => {
      const outcome = result ? { image: result.file?.childImageProc?.[field.name] ?? {} } : toFailure(error);
      setMade((last) => ({ ...(last.image && { image: last.image }), ...outcome, forQuery: query }));
    });
  }, [query, isWritten, field.name]);
  const isCurrent = forQuery === query && isWritten;
  return isCurrent ? { ...made, isCurrent } : { ...(made.image && { image: made.image }), isCurrent };
}

const toFailure = (error: unknown): Pick<TransformState, 'field' | 'problem'> => ({
  problem: toProblem(error),
  ...(error instanceof SiteQueryError && error.field !== undefined && { field: error.field }),
});

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
  const response = await fetch(link, { signal: limitWait(signal) });
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
