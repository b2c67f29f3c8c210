import { setTimeout as pause } from 'node:timers/promises';
import type { CredentialSource } from '../accounts/authentication.js';
import type { Caller } from '../accounts/callers.js';
import { AppError } from '../core/errors.js';
import type { PageData } from '../web/page-data.js';
import { BOARD_PATHS } from './page-paths.js';

/** A request for a page. */
export interface PageRequest extends CredentialSource {
  readonly path: string;
}

export interface PageDataOptions {
  readonly authenticate: (source: CredentialSource) => Promise<Caller | undefined>;
  readonly read: (caller: Caller | undefined, page: { readonly hasBoard: boolean }) => Promise<PageData>;
  readonly hasDashboard: boolean;
}

/** After this time the page is sent without data, so that it can report that the database does not respond. */
const TIMEOUT_MS = 1_000;

/**
 * Creates the function that reads the data embedded in a page. Only the session identifies the viewer. The function
 * returns `undefined` if the data is unavailable, such as during an outage of the database. The page then requests the
 * data itself and shows the error.
 */
export function createPageDataReader({
  authenticate,
  read,
  hasDashboard,
}: PageDataOptions): (request: PageRequest) => Promise<PageData | undefined> {
  const find = async ({ method, path, headers: { cookie } }: PageRequest): Promise<PageData> => {
    const caller = await authenticate({ method, headers: { cookie } }).catch(toSignedOut);
    return read(caller, { hasBoard: hasDashboard && BOARD_PATHS.includes(path) });
  };
  return (request) =>
    Promise.race([find(request).catch(() => undefined), pause(TIMEOUT_MS, undefined, { ref: false })]);
}

/** Treats an invalid session like none. */
function toSignedOut(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'unauthenticated')) throw error;
}
