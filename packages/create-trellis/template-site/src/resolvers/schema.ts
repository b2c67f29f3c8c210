import { baseResolvers, baseValues } from 'trellis/site-resolvers';
import { defineResolvers } from '../generated/site/resolvers.js';
import { articleResolvers } from './article.js';

/** The computed fields of all kinds: those of files, images and the site, and your own. */
export const resolvers = defineResolvers({ ...baseResolvers, Article: articleResolvers });

/** Cheaper functions that filters use instead of some resolvers. */
export const values = baseValues;
