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

/**
 * Makes the function that finds what a page tells whoever opens it, by the session alone. It gives `undefined` for
 * what can't be told now, as while the database is away: the page then asks for it, and says why it has no answer.
 */
export function createPageFacts({
  authenticate,
  read,
  hasDashboard,
}: PageFactsOptions): (request: PageRequest) => Promise<PageFacts | undefined> {
  return async ({ method, path, headers: { cookie } }) => {
    try {
      const caller = await authenticate({ method, headers: { cookie } }).catch(toNobody);
      return await read(caller, { hasBoard: hasDashboard && BOARD_PATHS.includes(path) });
    } catch {
      return undefined;
    }
  };
}

/** Whose session is over is nobody. */
function toNobody(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'unauthenticated')) throw error;
}
