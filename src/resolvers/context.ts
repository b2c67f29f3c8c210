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

/** What the resolvers of one request are given. */
export interface SiteContext extends SiteServices {
  /** Values of computed fields, where a filter or a sort names them. */
  readonly computeValue: ComputeValue;
}

export const createSiteContext = (services: SiteServices): SiteContext => ({
  ...services,
  computeValue: computedValues(services),
});
