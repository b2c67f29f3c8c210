import { setTimeout as pause } from 'node:timers/promises';
import type { CredentialSource } from '../accounts/authenticate.js';
import type { Caller } from '../accounts/callers.js';
import { AppError } from '../errors.js';
import type { PageFacts } from '../web/page-facts.js';
import { BOARD_PATHS } from './page-paths.js';

/** The request for a document. */
export interface PageRequest extends CredentialSource {
  readonly path: string;
}

export interface PageFactsOptions {
  readonly authenticate: (source: CredentialSource) => Promise<Caller | undefined>;
  readonly read: (caller: Caller | undefined, asked: { readonly hasBoard: boolean }) => Promise<PageFacts>;
  readonly hasDashboard: boolean;
}

/** In milliseconds: whoever waits for a database that doesn't answer has a page meanwhile, which says so. */
const PATIENCE_MS = 1_000;

/**
 * Makes the function that finds what a page tells whoever opens it, by the session alone. It gives `undefined` for
 * what can't be told now, as while the database is away: the page then asks for it, and says why it has no answer.
 */
export function createPageFacts({
  authenticate,
  read,
  hasDashboard,
}: PageFactsOptions): (request: PageRequest) => Promise<PageFacts | undefined> {
  const find = async ({ method, path, headers: { cookie } }: PageRequest): Promise<PageFacts> => {
    const caller = await authenticate({ method, headers: { cookie } }).catch(toNobody);
    return read(caller, { hasBoard: hasDashboard && BOARD_PATHS.includes(path) });
  };
  return (request) =>
    Promise.race([find(request).catch(() => undefined), pause(PATIENCE_MS, undefined, { ref: false })]);
}

/** Whose session is over is nobody. */
function toNobody(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'unauthenticated')) throw error;
}
