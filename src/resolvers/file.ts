import type { SiteResolvers } from '../generated/site/resolvers.js';

export const fileResolvers: SiteResolvers['File'] = {
  publicURL: ({ absolutePath, base, 'internal.contentDigest': contentDigest }, _args, { publicFiles }) =>
    publicFiles.publish({ absolutePath, base, contentDigest }),
};
