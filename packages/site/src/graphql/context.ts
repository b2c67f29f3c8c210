import type { FormatDate } from '../query/dates.js';
import type { RecordQueries, WorkMeter } from '../query/record-queries.js';
import type { ChangeFeed } from '../record-changes.js';
import { findPendingFile } from '../sources/digests/large-file-digests.js';
import type { MarkdownTexts } from './computed-fields.js';

/** Whether a stored digest is that of a large file that was not read yet. */
export const isPendingDigest = (digest: string): boolean => findPendingFile(digest) !== undefined;

/** The remaining work and response size of one request. All methods throw when a limit is exceeded. */
export interface ResolverBudget extends WorkMeter {
  /** Whether a limit has been exceeded. */
  readonly isOver: boolean;
  /** The time for which a field may wait for something, in milliseconds; absent if as long as it takes. */
  readonly waitMs?: number;
  /** Counts the values in a part of the response. */
  spend(values: number): void;
  /** Does the same as {@link WorkMeter.work}, but lets other requests run first if this one has used much time. */
  workInTurn<T>(piece: () => T): T | Promise<T>;
}

/** The parts of the context of one request that the derived resolvers use. */
export interface RecordContext {
  readonly records: RecordQueries;
  readonly formatDate: FormatDate;
  readonly budget: ResolverBudget;
  /** Renders the fields with `@markdown`; absent in an application without such fields. */
  readonly markdown?: MarkdownTexts;
  /** The changes that subscriptions follow; absent in an application without them. */
  readonly changes?: ChangeFeed;
  /** Returns a digest, which a large file has only after it was read. If absent, no digest is pending. */
  readonly readDigest?: (digest: string, waitMs?: number) => Promise<string> | string;
}
