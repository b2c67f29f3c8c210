import type { SiteResolvers } from '../generated/site/resolvers.js';

/** The build time is a field of the `SiteBuildMetadata` record, which the scan writes. */
export const siteResolvers: SiteResolvers['Site'] = {
  buildTime: (_site, _args, { records }) => {
    const build = records.find('SiteBuildMetadata', {}, BUILD_TIME);
    return (build?.buildTime ?? null) as string | null;
  },
};

const BUILD_TIME = {
  values: [{ kind: 'column', name: 'buildTime', column: 'buildTime', holds: 'value' }],
  relations: [],
} as const;
