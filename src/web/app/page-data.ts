import type { PageData } from '../page-data.js';

export type Service = 'dashboard' | 'secrets' | 'site';

const { origin = '', services = '', siteAccess = '', label = '', facts = '' } = document.body.dataset;

/** The origin of the server's `PUBLIC_URL`, the only one where its passkeys work. */
export const publicOrigin = origin;

/** The callers that may read the site. */
export const siteReaders = siteAccess as 'people' | 'public' | 'token';

/** A label that distinguishes this instance, such as "staging"; may be empty. */
export const instanceLabel = label;

/** The data about the signed-in user that the document embeds; `undefined` when the server could not read it. */
export const pageData = facts === '' ? undefined : (JSON.parse(facts) as PageData);

const running = new Set(services.split(' '));

export const isServiceEnabled = (service: Service): boolean => running.has(service);
