import type { FormatDate } from '../query/dates.js';
import type { RecordQueries, WorkMeter } from '../query/record-queries.js';

/** The remaining work and response size of one request. All methods throw when a limit is exceeded. */
export interface ResolverBudget extends WorkMeter {
  /** Whether a limit has been exceeded. */
  readonly isOver: boolean;
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
}
