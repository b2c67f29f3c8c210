import type { BoardPageData } from '../../page-data.js';
import { pageData } from '../page-data.js';

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
