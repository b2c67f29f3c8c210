import { useEffect, useState } from 'preact/hooks';
import { explain } from '../answers.js';
import { ask, AskError } from './ask.js';
import { formatQuery } from './recipe.js';
import type { Shape } from './recipe.js';

/** So that an image is not made for each letter. */
const ASK_AFTER_MS = 400;

export interface MadeImage {
  readonly src?: string | null;
  readonly srcSet?: string | null;
  readonly width?: number | null;
  readonly height?: number | null;
  readonly presentationWidth?: number | null;
  readonly presentationHeight?: number | null;
  readonly base64?: string | null;
  readonly tracedSVG?: string | null;
}

export interface Made {
  /** What was made last; it stays while something else is being made. */
  readonly image?: MadeImage;
  /** Whether that is what the form says now. */
  readonly isCurrent: boolean;
  readonly problem?: string;
  /** The argument that is to blame. */
  readonly field?: string;
}

interface Wanted {
  readonly path: string;
  readonly shape: Shape;
  readonly args: string;
  readonly results: readonly string[];
  /** Whether every argument could be written; otherwise nothing is asked. */
  readonly isWritten: boolean;
}

/** What a preview shows of a shape, whichever results the query to copy asks for. */
const SHOWN = ['src', 'srcSet', 'width', 'height', 'presentationWidth', 'presentationHeight'];
const SHOWN_WHERE_ASKED = ['base64', 'tracedSVG'];

interface MadeAnswer {
  readonly file: { readonly childImageProc: Readonly<Record<string, MadeImage | null>> | null } | null;
}

/** Asks for images when what is wanted has stood still for a moment. */
export function useMade({ path, shape: { name, field }, args, results, isWritten }: Wanted): Made {
  const shown = name === 'traced' ? ['tracedSVG', 'aspectRatio'] : SHOWN;
  const asked = field.results
    .map((result) => result.name)
    .filter((result) => shown.includes(result) || (SHOWN_WHERE_ASKED.includes(result) && results.includes(result)));
  const query = formatQuery(path, field.name, args, asked);
  const [{ of, ...made }, setMade] = useState<Omit<Made, 'isCurrent'> & { readonly of: string }>({ of: '' });
  useEffect(() => {
    if (!isWritten) return;
    let isWanted = true;
    const settle = (outcome: Omit<Made, 'isCurrent'>): void => {
      if (isWanted) setMade((last) => ({ ...(last.image && { image: last.image }), ...outcome, of: query }));
    };
    const timer = setTimeout(() => {
      ask<MadeAnswer>(query).then(
        ({ file }) => settle({ image: file?.childImageProc?.[field.name] ?? {} }),
        (error: unknown) => settle(toProblem(error)),
      );
    }, ASK_AFTER_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [query, isWritten, field.name]);
  const isCurrent = of === query && isWritten;
  return isCurrent ? { ...made, isCurrent } : { ...(made.image && { image: made.image }), isCurrent };
}

const toProblem = (error: unknown): Pick<Made, 'field' | 'problem'> => ({
  problem: explain(error),
  ...(error instanceof AskError && error.field !== undefined && { field: error.field }),
});
