import { useEffect, useState } from 'preact/hooks';
import { type Problem, toProblem } from '../../api.js';
import { querySite, SiteQueryError } from '../query-site.js';
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
    let isLatest = true;
    const settle = (outcome: Omit<TransformState, 'isCurrent'>): void => {
      if (isLatest) setMade((last) => ({ ...(last.image && { image: last.image }), ...outcome, forQuery: query }));
    };
    const timer = setTimeout(() => {
      querySite<MadeResult>(query).then(
        ({ file }) => settle({ image: file?.childImageProc?.[field.name] ?? {} }),
        (error: unknown) => settle(toFailure(error)),
      );
    }, QUERY_DELAY_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [query, isWritten, field.name]);
  const isCurrent = forQuery === query && isWritten;
  return isCurrent ? { ...made, isCurrent } : { ...(made.image && { image: made.image }), isCurrent };
}

const toFailure = (error: unknown): Pick<TransformState, 'field' | 'problem'> => ({
  problem: toProblem(error),
  ...(error instanceof SiteQueryError && error.field !== undefined && { field: error.field }),
});
