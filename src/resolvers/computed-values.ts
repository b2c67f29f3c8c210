import type { ComputeValue } from '../site/record-queries.js';
import type { SiteContext, SiteServices } from './context.js';
import { siteResolvers } from './site.js';

type ValueOf = (record: Record<string, unknown>, services: SiteServices) => unknown;

/**
 * The values of computed fields where a filter, a sort or a group names them:
 * what the resolver answers with default arguments, but at once and without
 * its effects. A field that is not here counts as missing.
 */
const VALUES: Readonly<Record<string, ValueOf>> = {
  'File.publicURL': ({ base, 'internal.contentDigest': digest }, { publicFiles }) =>
    publicFiles.pathOf({ base: String(base), contentDigest: String(digest) }),

  'Site.buildTime': (_site, services) =>
    siteResolvers.buildTime({ id: '' }, {}, services as SiteContext, undefined as never),
};

export const computedValues =
  (services: SiteServices): ComputeValue =>
  (kind, field, record) =>
    VALUES[`${kind}.${field}`]?.(record, services);
