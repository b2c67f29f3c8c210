import { defineResolvers } from '../generated/site/resolvers.js';
import { baseResolvers, baseValues } from './fields.js';

export const resolvers = defineResolvers(baseResolvers);

export const values = baseValues;
