import type { PageFacts } from '../page-facts.js';

/** What the server says of itself in the page that it sends. */
export type Service = 'dashboard' | 'secrets' | 'site';

const { origin = '', services = '', siteAccess = '', label = '', facts = '' } = document.body.dataset;

/** Where people reach this server; passkeys hold there alone. */
export const publicOrigin = origin;

/** The callers that may read the site. */
export const siteReaders = siteAccess as 'people' | 'public' | 'token';

/** What tells this server from others, such as "staging"; '' for nothing. */
export const instanceLabel = label;

/** What it says of whoever opened the page; `undefined` where that could not be had. */
export const pageFacts = facts === '' ? undefined : (JSON.parse(facts) as PageFacts);

const running = new Set(services.split(' '));

export const runs = (service: Service): boolean => running.has(service);
