import type { ForgeName, PullRequest } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';

/** Reads people's forges, and makes their boards of what it read. */
export interface Refresher {
  /**
   * Reads the whole board of a person, in a run that starts after the call: whoever calls while one is under way, in
   * any process, shares the next. What fails at a forge is on the board, not thrown.
   *
   * @throws AppError `unavailable` when the server stops.
   */
  refresh(personId: string): Promise<void>;
  /**
   * Reads one repository and composes the board; calls for the same one are coalesced. Does nothing without a
   * credential for the forge.
   *
   * @throws ForgeError when the forge can't be asked; then the repository is read again within some minutes.
   */
  refreshRepository(personId: string, forge: ForgeName, fullName: string): Promise<void>;
  /** Composes the board of what was read and of what is marked on it, and tells its streams. */
  recompose(personId: string): Promise<void>;
  /** A person's settings are others now: everything is read again, at once. */
  expedite(personId: string): Promise<void>;
  /** Starts to refresh boards as they come due. @returns when those that are due already have been, or after 30 seconds. */
  start(): Promise<void>;
  /** Leaves what is under way to other processes. */
  close(): Promise<void>;
}

/**
 * Is told after every reading: the forges that answered, and the rows of the board that are of it. It may be called for
 * the same person at the same time, here and in other processes, so what it sends has to be claimed first. It must not
 * wait for a refresh.
 */
export type OnRefreshed = (
  personId: string,
  forges: ReadonlyMap<ForgeName, Forge>,
  rows: readonly PullRequest[],
) => Promise<void>;
