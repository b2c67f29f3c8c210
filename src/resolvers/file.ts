import type { SiteResolvers } from '../generated/site/resolvers.js';

export const fileResolvers: SiteResolvers['File'] = {
  publicURL: ({ base, 'internal.contentDigest': contentDigest }, _args, { publicFiles }) =>
    publicFiles.linkTo({ base, contentDigest }),
};
