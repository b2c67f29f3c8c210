import type { FormatDate } from '../site/dates.js';
import type { PublicFiles } from '../site/public-files.js';
import type { ComputeValue, RecordQueries } from '../site/record-queries.js';
import { computedValues } from './computed-values.js';

/** The parts of the site that resolvers call. */
export interface SiteServices {
  readonly records: RecordQueries;
  readonly publicFiles: PublicFiles;
  readonly formatDate: FormatDate;
}

/** What one request may still use; each of these throws when that is too little. */
export interface Budget {
  /** Whether it has been too little before. */
  readonly isOver: boolean;
  /** Takes the values that a part of the answer holds. */
  spend(values: number): void;
  /** Looks at the time. */
  check(): void;
  /** Does what keeps the process busy: reading records. */
  work<T>(piece: () => T): T;
  /** As {@link work}; lets other requests go first when this one has had much time. */
  workInTurn<T>(piece: () => T): T | Promise<T>;
}

/** What the resolvers of one request are given. */
export interface SiteContext extends SiteServices {
  readonly budget: Budget;
  /** Values of computed fields, where a filter or a sort names them. */
  readonly computeValue: ComputeValue;
}

export const createSiteContext = (services: SiteServices, budget: Budget): SiteContext => ({
  ...services,
  budget,
  computeValue: computedValues(services),
});
