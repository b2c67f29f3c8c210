import type { BoardPageData, ContractLink, PageData } from '../page-data.js';

type Service = 'dashboard' | 'secrets' | 'site';

const {
  origin = '',
  services = '',
  accounts = '',
  contracts: contractList = '[]',
  siteAccess = '',
  label = '',
  facts = '',
} = document.body.dataset;

/** The origin of the server's `PUBLIC_URL`, the only one where its passkeys work. */
export const publicOrigin = origin;

/** The callers that may read the site. */
export const siteReaders = siteAccess as 'people' | 'public' | 'token';

/** A label that distinguishes this instance, such as "staging"; may be empty. */
export const instanceLabel = label;

/** The data about the signed-in user that the document embeds; `undefined` when the server could not read it. */
export const pageData = facts === '' ? undefined : (JSON.parse(facts) as PageData);

const running = new Set(services.split(' '));

/** The contracts of the services that this server runs. */
export const contracts = JSON.parse(contractList) as readonly ContractLink[];

/** Matches the paths of pages, which the router handles; the browser loads other paths from the server. */
export const ROUTER_SCOPE =
  /^\/(?:(?:issues|repositories|insights|vault|site|services|settings|admin|sign-in)(?:[/?#]|$)|[?#]|$)/;

export const isServiceEnabled = (service: Service): boolean => running.has(service);

/** Whether users can sign in. */
export const hasAccounts = accounts === 'admin' || accounts === 'users';

/** Whether the admin can invite users. */
export const hasUsers = accounts === 'users';

/** Board data embedded in the document, as of the page load. */
export const preloadedBoard = pageData?.board;

/** The path for which the document was loaded. */
const initialPath = location.pathname;

const consumed = new Set<keyof BoardPageData>();

/** Returns embedded data once, and only to the page for which the document was loaded: later it may be outdated. */
export function consumePreloaded<Name extends keyof BoardPageData>(name: Name): BoardPageData[Name] | undefined {
  if (consumed.has(name) || location.pathname !== initialPath) return undefined;
  consumed.add(name);
  return preloadedBoard?.[name];
}
