import type { SiteResolvers } from '../generated/site/resolvers.js';

/** The computed fields of schema/article.graphql. */
export const articleResolvers: SiteResolvers['Article'] = {
  words: ({ body }) => body?.match(/\S+/gu)?.length ?? 0,
};
